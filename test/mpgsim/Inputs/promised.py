# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The promise of a first run of mpgsim, beside what a second one shows with it.

  promised.py sectors FIRST.json HINTS SECOND.json
  promised.py pages FIRST.json SECOND.json

The gain of the second, against what the first counted without the advice, is that
of the advice within 5 %. Sectors: traffic to memory with 2 MiB pages. Pages: page
walks, and the time of them.
"""

import json
import re
import sys
from typing import Any, Dict, List

WITHIN = 0.05
LARGE = 2 << 20


def of_size(pages: List[Dict[str, Any]], size: int) -> Dict[str, Any]:
    return next(page for page in pages if page["pageBytes"] == size)


def traffic(pages: List[Dict[str, Any]]) -> int:
    page = of_size(pages, LARGE)
    return page["linesRead"][0] + page["linesWritten"][0]


def compare(what: str, promised: float, shown: float) -> None:
    assert promised > 0, what
    kept = abs(shown - promised) <= WITHIN * promised
    print(f"{what}: promised {promised:.1f}, shown {shown:.1f}: {'kept' if kept else 'broken'}")


def sectors(before: Dict[str, Any], hints: str, after: Dict[str, Any]) -> None:
    with open(hints, encoding="utf-8") as file:
        text = file.read()
    advice = re.search(r"Sectors: (\d+) of .* save ([\d.]+) %", text)
    setting = re.search(r"L2_SECTOR_NWAYS_INIT=\d+,(\d+)", text)
    assert advice and setting and advice[1] == setting[1], text
    names = re.findall(r"^(\w+): stream", text, re.MULTILINE)
    assert names and names == after["sectors"]["stream"], names
    divided = next(quota["pages"] for quota in after["sectors"]["quotas"]
                   if quota["sector1Ways"] == int(setting[1]))
    compare("traffic saved, %", float(advice[2]),
            100 * (1 - traffic(divided) / traffic(before["pages"])))


def pages(before: Dict[str, Any], after: Dict[str, Any]) -> None:
    gain = next(one for one in before["gains"] if one["pageBytes"] == LARGE)
    small = of_size(before["pages"], gain["basePageBytes"])
    walks = small["tlbMisses"]["L2 DTLB"]
    saved = walks - of_size(after["pages"], LARGE)["tlbMisses"]["L2 DTLB"]
    compare("page walks saved", walks - of_size(before["pages"], LARGE)
            ["tlbMisses"]["L2 DTLB"], saved)
    compare("ms saved, at least", gain["savedNs"][0] / 1e6, saved * 206 / 1e6)


def main() -> None:
    kind, *files = sys.argv[1:]
    reports = []
    for name in (files[0], files[-1]):
        with open(name, encoding="utf-8") as file:
            reports.append(json.load(file))
    if kind == "sectors":
        sectors(reports[0], files[1], reports[1])
    else:
        pages(reports[0], reports[1])


main()
