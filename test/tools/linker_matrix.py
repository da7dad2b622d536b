#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linker_matrix.py MPGAUDIT WORK_DIR: real linkers, every kind of file.

Links one program with GNU ld, gold, lld and mold, as PIE, no-PIE, static,
static-PIE and shared library, for both machines, as usual and with the 2 MiB
segments that mpgaudit recommends, and compares the layout and loader findings
with the table below: ids and sub-codes, nothing more and nothing less. The
conflicting pairs are also computed here, from what readelf prints.

Prints a line for each file that differs and a count; status 1 if one differs.
"""

import json
import re
import subprocess
import sys
from typing import List, NamedTuple, Set, Tuple

HUGE = 2 << 20
PAGE_FLAG = f"-Wl,-z,max-page-size={HUGE}"

# 64 KiB of .data, 8 MiB of .bss: above --min, and quickly linked.
SOURCE = """
int table[1 << 14] = {1};
int field[1 << 21];
int main(void) { return field[table[5]]; }
"""


class Linker(NamedTuple):
    name: str
    command: List[str]
    machine: str
    splits_relro: bool  # RELRO and .data are two segments: rw-rw


CLANG_A64 = ["clang-22", "--target=aarch64-linux-gnu"]
LINKERS = [
    Linker("bfd", ["gcc", "-fuse-ld=bfd"], "x86-64", False),
    Linker("gold", ["gcc", "-fuse-ld=gold"], "x86-64", False),
    Linker("lld", ["clang-22", "-fuse-ld=lld"], "x86-64", True),
    Linker("mold", ["clang-22", "-fuse-ld=mold"], "x86-64", True),
    Linker("bfd", ["aarch64-linux-gnu-gcc", "-fuse-ld=bfd"], "aarch64", False),
    Linker("gold", ["aarch64-linux-gnu-gcc", "-fuse-ld=gold"], "aarch64",
           False),
    Linker("lld", CLANG_A64 + ["-fuse-ld=lld"], "aarch64", True),
    Linker("mold", CLANG_A64 + ["-fuse-ld=mold"], "aarch64", True),
]


class Kind(NamedTuple):
    name: str  # as mpgaudit calls it
    flags: List[str]
    findings: Set[str]  # whatever the layout is


KINDS = [
    Kind("pie", ["-pie", "-fPIE"], {"MPG102"}),
    Kind("exec", ["-no-pie"], set()),
    Kind("static", ["-static"], {"MPG112"}),
    Kind("static-pie", ["-static-pie", "-fPIE"], {"MPG102", "MPG112"}),
    Kind("library", ["-shared", "-fPIC"], {"MPG143 data"}),
]


def expected(linker: Linker, kind: Kind, large: bool) -> List[str]:
    """Findings under target fugaku, whose kernel has pages of 64 KiB."""
    found = set(kind.findings)
    if not large:
        if linker.machine == "x86-64":  # linked for pages of 4 KiB
            found.add("MPG150")
        if kind.name != "library":
            found |= {"MPG103 ro-overlap", "MPG161"}
            if linker.splits_relro:
                found.add("MPG103 rw-rw")
    return sorted(found)


def pairs_of_readelf(path: str) -> List[List[int]]:
    """Neighbours that meet in a large page which one of them wants."""
    text = subprocess.run(["readelf", "-lW", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    ranges: List[Tuple[int, int, bool]] = []
    for line in text.splitlines():
        match = re.match(r"\s+LOAD((?:\s+0x[0-9a-f]+){5})\s+([RWE ]+?)\s+0x",
                         line)
        if not match:
            continue
        _, address, _, _, size = (int(n, 16) for n in match[1].split())
        end, writable = address + size, "W" in match[2]
        if writable:
            address, end = address // HUGE * HUGE, -(-end // HUGE) * HUGE
        ranges.append((address, end, writable))
    return [[i - 1, i] for i in range(1, len(ranges))
            if (ranges[i - 1][2] or ranges[i][2])
            and ranges[i - 1][1] > ranges[i][0]]


def audit(mpgaudit: str, path: str, target: str) -> dict:
    command = [mpgaudit, "--format=json", "--fail-on=never",
               "--checks=layout,loader", f"--target={target}", path]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE,
                         timeout=600)
    return json.loads(run.stdout)["files"][0]


def differences(mpgaudit: str, path: str, linker: Linker, kind: Kind,
                large: bool) -> List[str]:
    report = audit(mpgaudit, path, "fugaku")
    found = report["findings"]
    # Which half of MPG150 a file breaks depends on the size of its code.
    names = sorted(f"{f['id']} {f.get('sub', '')}".strip()
                   .replace("MPG150 align", "MPG150")
                   .replace("MPG150 congruence", "MPG150") for f in found)
    pairs = pairs_of_readelf(path)
    reported = [f["where"]["segments"] for f in found if f["id"] == "MPG103"]
    for_mpg = audit(mpgaudit, path, "mpg")["findings"]
    severities = {f["severity"] for f in for_mpg if f["id"] == "MPG103"}
    wanted = expected(linker, kind, large)
    checks = [
        ("kind", report["kind"], kind.name),
        ("machine", report["machine"], linker.machine),
        ("findings", names, wanted),
        ("facts.overlap", report["facts"]["overlap"], pairs),
        ("reported pairs", reported, [] if kind.name == "library" else pairs),
        ("severity for mpg", severities,
         {"warning"} if "MPG103 ro-overlap" in wanted else set()),
    ]
    return [f"{what}: {got}, not {want}" for what, got, want in checks
            if got != want]


def main() -> int:
    mpgaudit, work_dir = sys.argv[1:]
    source = f"{work_dir}/program.c"
    with open(source, "w", encoding="ascii") as out:
        out.write(SOURCE)
    files = failed = 0
    for linker in LINKERS:
        for kind in KINDS:
            if linker.name == "gold" and kind.name == "static-pie":
                continue  # gold 1.16 does not know --no-dynamic-linker
            for large in (False, True):
                path = (f"{work_dir}/{linker.machine}-{linker.name}-"
                        f"{kind.name}{'-2m' if large else ''}")
                subprocess.run(linker.command + kind.flags + [source, "-o",
                               path] + [PAGE_FLAG] * large, check=True)
                found = differences(mpgaudit, path, linker, kind, large)
                files += 1
                failed += bool(found)
                for text in found:
                    print(f"{path}: {text}")
    print(f"{files} files, {failed} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
