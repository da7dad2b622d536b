#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts loads, stores and prefetches through tagged addresses in AArch64 code.

  count_tagged.py FILE [--function NAME] [--tag 0x01] [--loops]
                       [--at-least N] [--at-most N] [--all]

FILE is the output of clang -S or llvm-objdump -d. An access counts as tagged if on some path its
base register holds a tag that the same function added; aarch64_asm.py describes the analysis.
Counts instructions, not source accesses: an unrolled loop has more, and a pair (ldp) is one. Skips
accesses to the stack by sp: no compiler tags those.

The table has a line for each function with an access: all accesses, those in loops, and how many of
them have which tag. --at-least and --at-most limit the tagged ones that --function, --tag and
--loops select; --all forbids other accesses there. Status 1 if that does not hold, 2 if the
function does not exist.
"""

import argparse
import collections
import dataclasses
import sys
from typing import Counter, List

sys.dont_write_bytecode = True
from aarch64_asm import (CONSTANT, Function, components, compute_flow,  # noqa: E402
                         instructions_with_state, read_functions)

from mpgtest.options import parse


@dataclasses.dataclass
class Counts:
    name: str
    accesses: int = 0
    loop_accesses: int = 0
    tagged: int = 0
    tagged_in_loops: int = 0
    tags: Counter[int] = dataclasses.field(default_factory=collections.Counter)
    loop_tags: Counter[int] = dataclasses.field(default_factory=collections.Counter)


def count(function: Function) -> Counts:
    flow = compute_flow(function)
    in_loops = set().union(*components(set(range(len(flow.blocks))), flow.successors))
    counts = Counts(function.name)
    for block, instruction, state in instructions_with_state(function, flow):
        base = instruction.base()
        if base is None or base == "sp":
            continue
        tags = {tag for tag in state.get(base, ()) if tag and not tag & CONSTANT}
        counts.accesses += 1
        counts.tagged += bool(tags)
        counts.tags.update(tags)
        if block in in_loops:
            counts.loop_accesses += 1
            counts.tagged_in_loops += bool(tags)
            counts.loop_tags.update(tags)
    return counts


def print_line(counts: Counts) -> None:
    tags = ", ".join(f"{number} with 0x{tag:02x}" for tag, number in sorted(counts.tags.items()))
    print(f"{counts.name}: {counts.tagged} of {counts.accesses} tagged, in loops "
          f"{counts.tagged_in_loops} of {counts.loop_accesses}"
          + (f"; {tags}" if tags else ""))


def chosen(arguments: argparse.Namespace, every: List[Counts]) -> int:
    """How many tagged accesses --tag and --loops leave."""
    if arguments.tag is not None:
        return sum((c.loop_tags if arguments.loops else c.tags)[arguments.tag] for c in every)
    return sum(c.tagged_in_loops if arguments.loops else c.tagged for c in every)


def main() -> int:
    arguments = parse(__doc__, "file", function=None, tag={"type": lambda text: int(text, 0)},
                      loops=False, at_least=0, at_most={"type": int}, all=False)
    with open(arguments.file, encoding="utf-8", errors="replace") as file:
        every = [count(function) for function in read_functions(file.read())
                 if arguments.function in (None, function.name)]
    if not every:
        print(f"count_tagged.py: error: {arguments.file}: no function "
              f"{arguments.function or 'at all'}", file=sys.stderr)
        return 2
    for counts in every:
        if counts.accesses:
            print_line(counts)
    number = chosen(arguments, every)
    total = sum(c.loop_accesses if arguments.loops else c.accesses for c in every)
    print(f"{number} of {total} accesses chosen and tagged")
    least = max(arguments.at_least, total) if arguments.all \
        else arguments.at_least
    most = total if arguments.at_most is None else arguments.at_most
    if not least <= number <= most:
        print(f"count_tagged.py: {number} of {total} accesses are tagged, "
              f"wanted {least} to {most}", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
