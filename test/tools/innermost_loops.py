#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of tags in the innermost loops of AArch64 code.

  innermost_loops.py FILE           a table of the innermost loops of FILE
  innermost_loops.py PLAIN TAGGED   the same for the code of one source without
                                    and with tags; status 1 if the tags cost

A file is the output of clang -S or llvm-objdump -d. With two files, an innermost loop of TAGGED
must not build a tag constant or put one on an address, unless PLAIN has as many such instructions
in the same function (2.0 and INT64_MIN have no bits below 56 either). With --same-vector-loops the
vector loops of a function must also be as many and, in order, as long as without tags.

With --lengths all loops are compared. The loops of a function that start at one line of the source
(with -S -g; without -g all of the function) are paired in order. If their number differs, they
count as not paired; if there is none without tags, as kept: a loop that did not become a call of
memset or memcpy. Prints the sums; at most that many may be longer.

Status 2: there is nothing to compare, so the test is invalid.
"""

import dataclasses
import sys
from typing import Dict, List, Tuple

sys.dont_write_bytecode = True
from aarch64_asm import (Function, compute_flow, innermost_loops,  # noqa: E402
                         instructions_with_state, puts_tag_on, read_functions)

from mpgtest.options import parse


@dataclasses.dataclass
class Loop:
    line: int  # number of its first instruction in the function
    instructions: int = 0
    vector: bool = False
    source_line: int = 0  # the first of the source, 0 if it is not known
    tag_instructions: List[str] = dataclasses.field(default_factory=list)


def find_loops(function: Function) -> List[Loop]:
    flow = compute_flow(function)
    blocks = innermost_loops(flow)
    loops = [Loop(flow.blocks[min(members)][0]) for members in blocks]
    owner = {block: loop for loop, members in zip(loops, blocks) for block in members}
    for block, instruction, state in instructions_with_state(function, flow):
        if loop := owner.get(block):
            loop.instructions += 1
            loop.vector |= instruction.is_vector()
            if instruction.line and not 0 < loop.source_line <= instruction.line:
                loop.source_line = instruction.line
            if puts_tag_on(instruction, state):
                loop.tag_instructions.append(instruction.text())
    return loops


def read_loops(path: str) -> Dict[str, List[Loop]]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return {function.name: find_loops(function) for function in read_functions(file.read())}


def print_table(path: str, functions: Dict[str, List[Loop]]) -> None:
    print(f"{path}:")
    for name, loops in functions.items():
        for loop in loops:
            kind = "vector" if loop.vector else "scalar"
            print(f"  {name} at {loop.line}: {loop.instructions} instructions, "
                  f"{kind}, {len(loop.tag_instructions)} for tags"
                  + "".join(f"\n    {text}" for text in loop.tag_instructions))


def vector_lengths(loops: List[Loop]) -> List[int]:
    return [loop.instructions for loop in loops if loop.vector]


def faults(plain: Dict[str, List[Loop]], tagged: Dict[str, List[Loop]],
           same_vector_loops: bool) -> List[str]:
    found = []
    for name in plain:
        before, after = (sum(len(loop.tag_instructions) for loop in side[name])
                         for side in (plain, tagged))
        if after > before:
            found.append(f"{name}: {after} instructions for tags in innermost "
                         f"loops, {before} without tags")
        lengths = [vector_lengths(side[name]) for side in (plain, tagged)]
        if same_vector_loops and lengths[0] != lengths[1]:
            found.append(f"{name}: vector loops of {lengths[1]} instructions, "
                         f"of {lengths[0]} without tags")
    return found


def by_line(loops: List[Loop]) -> Dict[int, List[Loop]]:
    groups: Dict[int, List[Loop]] = {}
    for loop in loops:
        groups.setdefault(loop.source_line, []).append(loop)
    return groups


@dataclasses.dataclass
class Lengths:
    """How the loops of two files compare."""
    pairs: List[Tuple[str, Loop, Loop]] = dataclasses.field(default_factory=list)
    unpaired: List[str] = dataclasses.field(default_factory=list)
    kept: List[str] = dataclasses.field(default_factory=list)

    def add(self, name: str, before: List[Loop], after: List[Loop]) -> None:
        """The loops of one line."""
        where = f"{name}, line {(before or after)[0].source_line}"
        if len(before) == len(after):
            self.pairs += [(where, *pair) for pair in zip(before, after)]
        elif before:
            self.unpaired.append(f"{where}: {len(after)} loops, {len(before)} without")
        else:
            self.kept.append(f"{where}: {len(after)} loops, none without")

    def longer(self) -> List[str]:
        return [f"{where}: {after.instructions} instructions, "
                f"{before.instructions} without"
                for where, before, after in self.pairs
                if after.instructions > before.instructions]

    def summary(self) -> str:
        before = [old.instructions for _, old, _ in self.pairs]
        after = [new.instructions for _, _, new in self.pairs]
        same = sum(one == other for one, other in zip(before, after))
        shorter = sum(one > other for one, other in zip(before, after))
        return (f"loops: {same} the same, {shorter} shorter, "
                f"{len(self.longer())} longer, {len(self.unpaired)} not paired, "
                f"{len(self.kept)} kept; {sum(after)} instructions, "
                f"{sum(before)} without tags")


def compare_lengths(plain: Dict[str, List[Loop]],
                    tagged: Dict[str, List[Loop]], most: int) -> List[str]:
    """Prints how the loops differ; a fault if too many are longer."""
    lengths = Lengths()
    for name in plain:
        groups, others = by_line(plain[name]), by_line(tagged[name])
        for line in groups.keys() | others.keys():
            lengths.add(name, groups.get(line, []), others.get(line, []))
    print(lengths.summary())
    longer = lengths.longer()
    for what, loops in (("longer", longer), ("not paired", lengths.unpaired),
                        ("kept", lengths.kept)):
        for text in sorted(loops):
            print(f"  {what}: {text}")
    return [f"{len(longer)} loops are longer, at most {most} may be"] \
        if len(longer) > most else []


def nothing_compared(plain: Dict[str, List[Loop]],
                     tagged: Dict[str, List[Loop]],
                     same_vector_loops: bool) -> str:
    if set(plain) != set(tagged):
        return "functions of one file only: " \
            + ", ".join(sorted(set(plain) ^ set(tagged)))
    if not any(plain.values()) or not any(tagged.values()):
        return "a file without loops"
    if same_vector_loops and not any(map(vector_lengths, plain.values())):
        return "no innermost loop has vector instructions"
    return ""


def main() -> int:
    arguments = parse(__doc__, "files+", same_vector_loops=False, lengths={"type": int})
    read = [read_loops(path) for path in arguments.files]
    for path, functions in zip(arguments.files, read):
        print_table(path, functions)
    if len(read) == 1:
        return 0
    if reason := nothing_compared(*read, arguments.same_vector_loops):
        print(f"innermost_loops.py: error: {reason}", file=sys.stderr)
        return 2
    found = faults(*read, arguments.same_vector_loops)
    if arguments.lengths is not None:
        found += compare_lengths(*read, arguments.lengths)
    for fault in found:
        print(f"innermost_loops.py: {fault}", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
