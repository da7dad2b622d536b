#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linker_matrix.py MPGAUDIT WORK_DIR: real linkers, every kind of file.

Links one program with GNU ld, gold, lld and mold, as PIE, no-PIE, static, static-PIE and shared
library, for both machines, as usual and with the 2 MiB segments that mpgaudit recommends, and
compares the layout and loader findings with the table below: exactly these ids and sub-codes. The
conflicting pairs are also computed here, from readelf's output.

Prints a line for each file that differs and a count; status 1 if one differs.
"""

import json
import re
import sys
from typing import List, NamedTuple, Set, Tuple

from mpgtest.links import KINDS, MACHINES, Objects, compiler
from mpgtest.run import finish, output

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


LINKERS = [
    Linker(name, [*compiler(machine, gnu=gnu), f"-fuse-ld={name}"], machine, not gnu)
    for machine in MACHINES
    for name, gnu in (("bfd", True), ("gold", True), ("lld", False), ("mold", False))
]


class Kind(NamedTuple):
    name: str  # as mpgaudit calls it
    flags: List[str]
    findings: Set[str]  # whatever the layout is


FILES = [
    Kind("pie", KINDS["pie"], {"MPG102"}),
    Kind("exec", KINDS["no-pie"], set()),
    Kind("static", KINDS["static"], {"MPG112"}),
    Kind("static-pie", KINDS["static-pie"], {"MPG102", "MPG112"}),
    Kind("library", KINDS["shared"], {"MPG143 data"}),
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
    text = output(["readelf", "-lW", path])
    ranges: List[Tuple[int, int, bool]] = []
    for line in text.splitlines():
        match = re.match(r"\s+LOAD((?:\s+0x[0-9a-f]+){5})\s+([RWE ]+?)\s+0x", line)
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
    return json.loads(output(command))["files"][0]


def differences(mpgaudit: str, path: str, linker: Linker, kind: Kind, large: bool) -> List[str]:
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
    return [f"{what}: {got}, not {want}" for what, got, want in checks if got != want]


def main() -> int:
    mpgaudit, work_dir = sys.argv[1:]
    source = f"{work_dir}/program.c"
    with open(source, "w", encoding="ascii") as out:
        out.write(SOURCE)
    objects = Objects(work_dir)
    files, failed = 0, []
    for linker in LINKERS:
        for kind in FILES:
            if linker.name == "gold" and kind.name == "static-pie":
                continue  # gold 1.16 does not know --no-dynamic-linker
            for large in (False, True):
                path = (f"{work_dir}/{linker.machine}-{linker.name}-"
                        f"{kind.name}{'-2m' if large else ''}")
                compiled = objects.of(linker.command[:-1] + kind.flags, source)
                output(linker.command + kind.flags + [compiled, "-o", path] + [PAGE_FLAG] * large)
                found = differences(mpgaudit, path, linker, kind, large)
                files += 1
                failed += [f"{path}: {text}" for text in found]
    return finish(failed, f"{files} files, {{}} differ")


sys.exit(main())
