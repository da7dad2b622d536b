#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads `objdump -d --no-show-raw-insn` of AArch64 code on standard input and
prints one line for each innermost loop that loads and stores whole SVE vectors:
how many instructions an iteration has, and of which kinds."""

import re
import sys

LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
BRANCH = re.compile(r"b\.?\w*$|cbn?z$|tbn?z$")
TARGET = re.compile(r"(?:^|\s)(?:0x)?([0-9a-f]+) <")


def loops(code):
    """From the target of a branch backwards to the branch, innermost ones."""
    places = {address: i for i, (address, _, _) in enumerate(code)}
    spans = set()
    for i, (address, name, operands) in enumerate(code):
        target = TARGET.search(operands)
        if BRANCH.match(name) and target:
            to = int(target.group(1), 16)
            if to <= address and to in places:
                spans.add((places[to], i))
    for first, last in sorted(spans):
        inner = [s for s in spans if first <= s[0] and s[1] <= last]
        if len(inner) == 1:
            yield code[first : last + 1]


def main() -> None:
    code = []
    for line in sys.stdin:
        found = LINE.match(line)
        if found:
            address, name, operands = found.groups()
            code.append((int(address, 16), name, operands))
    for loop in loops(code):
        names = [name for _, name, _ in loop]
        vectors = [name for _, name, operands in loop
                   if name[:3] in ("ld1", "st1") or operands.startswith("z")]
        loads = sum(name.startswith("ld") for name in vectors)
        stores = sum(name.startswith("st") for name in vectors)
        prefetches = sum(name.startswith("prfm") for name in names)
        stack = sum("[sp" in operands for _, _, operands in loop)
        if loads and stores:
            print(f"{len(loop)} instructions: {loads} loads, {stores} stores, "
                  f"{prefetches} prefetches, {stack} on the stack")


main()
