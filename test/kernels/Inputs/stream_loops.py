#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stream_loops.py DISASSEMBLY DOC: are the SVE loops what the docs say?

For each STREAM operation and type, the loop that prefetches and zeroes must have four vector loads
a source, four vector stores, one prefetch a source, one DC ZVA, four vector operations (copy:
none), no access to the stack and only its own branch. Its length must be in the row of the
operation in the table "Instructions of the loop" of DOC, for any compiler. Prints a line for each
loop; status 1 if one differs.
"""

import re
import sys
from typing import Dict, List

sys.dont_write_bytecode = True
from aarch64_asm import (Function, Instruction, compute_flow,  # noqa: E402
                         innermost_loops, read_functions)

NAME = re.compile(r"3runI.*(Copy|Scale|Add|Triad)E?([df])E")
SOURCES = {"copy": 1, "scale": 1, "add": 2, "triad": 2}


def loops(function: Function) -> List[List[Instruction]]:
    flow = compute_flow(function)
    return [[instruction for block in sorted(members)
             for instruction in function.code[slice(*flow.blocks[block])]]
            for members in innermost_loops(flow)]


def faults(loop: List[Instruction], operation: str) -> List[str]:
    def count(kind) -> int:
        return sum(1 for instruction in loop if kind(instruction))

    sources = SOURCES[operation]
    wanted = {
        "vector loads": (4 * sources, lambda i: i.name.startswith("ld") and
                         i.is_vector()),
        "vector stores": (4, lambda i: i.name.startswith("st") and i.is_vector()),
        "arithmetic": (0 if operation == "copy" else 4,
                       lambda i: re.match(r"f(mul|add|mla|mad)$", i.name)),
        "prefetches": (sources, lambda i: i.name == "prfm" and
                       i.operands[0] == "pldl2keep"),
        "DC ZVA": (1, lambda i: i.name == "dc" and i.operands[0] == "zva"),
        "branches": (1, lambda i: i.is_branch()),
        "stack accesses": (0, lambda i: i.base() in ("sp", "x29")),
    }
    # A vector that the loop reloads or saves is a load or a store too many.
    wanted["all loads"] = (4 * sources, lambda i: i.name.startswith("ld"))
    wanted["all stores"] = (4, lambda i: i.name.startswith("st"))
    return [f"{count(kind)} {what} instead of {number}"
            for what, (number, kind) in wanted.items() if count(kind) != number]


def documented_lengths(path: str) -> Dict[str, List[int]]:
    with open(path, encoding="utf-8") as file:
        section = file.read().partition("Instructions of the loop")[2]
    rows = re.findall(r"^\| (copy|scale|add|triad) \|(.*)\|$", section, re.M)
    return {name: [int(number) for number in re.findall(r"\d+", cells)] for name, cells in rows}


def main() -> int:
    with open(sys.argv[1], encoding="utf-8") as file:
        functions = read_functions(file.read())
    lengths, seen, wrong = documented_lengths(sys.argv[2]), set(), 0
    for function in functions:
        found = NAME.search(function.name)
        if not found:
            continue
        operation, kind = found.group(1).lower(), found.group(2)
        zeroing = [loop for loop in loops(function)
                   if any(i.name == "dc" for i in loop) and
                   any(i.name == "prfm" for i in loop)]
        if len(zeroing) != 1:
            print(f"{operation} {kind}: {len(zeroing)} loops instead of 1")
            wrong += 1
            continue
        found_faults = faults(zeroing[0], operation)
        if len(zeroing[0]) not in lengths.get(operation, []):
            found_faults.append(f"the docs do not say {len(zeroing[0])}")
        print(f"{operation} {kind}: {len(zeroing[0])} instructions"
              + "".join(f"; {fault}" for fault in found_faults))
        wrong += bool(found_faults)
        seen.add((operation, kind))
    print(f"{len(seen)} loops, {wrong} wrong")
    return 1 if wrong or len(seen) != 8 else 0


sys.exit(main())
