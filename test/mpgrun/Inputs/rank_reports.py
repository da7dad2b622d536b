#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what the ranks of a made-up job leave: reports of mpgreport-1.

`rank_reports.py DIR --nodes N --ranks-a-node M` has ranks that are all on large pages;
`--without-host` leaves out what reports of older versions lack. `--change RANKS KEY=JSON`
changes the reports of ranks such as 17 or 0-12; the key bss is what its .bss has on large pages,
with the reason of an empty pool.
"""

import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../lib"))
from mpgtest.options import parse  # noqa: E402

MIB = 1 << 20
BSS_BYTES = 1674 * MIB
SHORT = "not enough free large pages"


def region(name: str, size: int, huge: int, reason: str = "") -> dict:
    return {"region": name, "bytes": size, "huge_bytes": huge, "pool_bytes": huge,
            "unknown_bytes": 0, "set_aside_bytes": 0, "paged_in_bytes": 0,
            "peak_bytes": size, "peak_huge_bytes": huge,
            "page_bytes": 2 * MIB if huge else 4096, "nodes": [size], "reason": reason}


def report(host: str, rank: int) -> dict:
    return {"schema": "mpgreport-1", "version": "0.2.0", "host": host, "rank": rank,
            "program": "./app", "status": 0, "mode": "hugetlb", "source": "smaps",
            "libmpg": True, "libmpg_file": "/opt/mpg/lib/libmpgrt.so.1",
            "hugetlb_fallback": False, "peak_hugetlb_bytes": BSS_BYTES,
            "regions": [region("bss", BSS_BYTES, BSS_BYTES),
                        region("heap", 8 * MIB, 8 * MIB),
                        region("library", 120 << 10, 0)],
            "hints": None, "messages": []}


def change(made: dict, ranks: str, setting: str) -> None:
    """Nothing if `ranks` have not the rank of the report `made`."""
    first, _, last = ranks.partition("-")
    if not int(first) <= made["rank"] <= int(last or first):
        return
    key, value = setting.split("=", 1)
    if key == "bss":
        made["regions"][0] = region("bss", BSS_BYTES, int(value), SHORT)
    else:
        made[key] = json.loads(value)


def main() -> None:
    arguments = parse(__doc__, "folder", nodes=int, ranks_a_node=1, without_host=False,
                      change={"nargs": 2, "action": "append", "default": []})
    os.makedirs(arguments.folder, exist_ok=True)
    for rank in range(arguments.nodes * arguments.ranks_a_node):
        host = f"c{rank // arguments.ranks_a_node}"
        made = report(host, rank)
        for ranks, setting in arguments.change:
            change(made, ranks, setting)
        if arguments.without_host:
            for key in ("version", "host", "rank"):
                del made[key]
        name = os.path.join(arguments.folder, f"{host} {rank}.json")
        with open(name, "w", encoding="utf-8") as file:
            json.dump(made, file)


main()
