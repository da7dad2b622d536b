# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large pages in starts of a program: the last line of text-pages and text-kernels.

docs/environment.md has a table of these lines, so they are made and read here.
"""

from __future__ import annotations

import re
from typing import Mapping, NamedTuple, Optional, Sequence

from mpgtest.soak import REPO

CODE_MIB = 12
SOURCE = REPO / "test/runtime/Inputs/text-pages.c"
OPTIONS = ["-O1", "-w", "-no-pie", f"-DBULK_BYTES={CODE_MIB << 20}"]
# Of a file that was just written, but for the second and the third.
STARTS = ["auto", "auto, again", "auto, third start", "mpgrun --text"]


class Wrong(Exception):
    """A start did not do as it has to."""


class Outcome(NamedTuple):
    """Of one kernel: for each file system the MiB that were large in each of STARTS."""

    kernel: str
    found: Mapping[str, str]


def large_mib(said: str, must_say: bool = True) -> int:
    """MiB of code, and as much of constants, on large pages in one start of the program. Without
    that it has to say why not, once; khugepaged may have made them after that."""
    large = re.search(r"code: (\d+) KiB large, data: (\d+)", said)
    if not large or f"sum {-19 * CODE_MIB * 256}, 0 arguments" not in said:
        raise Wrong(said)
    mib = min(int(large[1]), int(large[2])) // 1024
    lines = said.count("MPG_TEXT=")
    if lines > 1 or (must_say and mib < CODE_MIB and not lines):
        raise Wrong(f"{mib} MiB are large, and {lines} lines say why not: {said}")
    return min(mib, CODE_MIB)


def last_line(outcome: Outcome, wrong: int) -> str:
    found = ", ".join(f"{name} {cell}" for name, cell in outcome.found.items())
    return f"Linux {outcome.kernel}: {found}: {wrong} wrong"


def cell(starts: Sequence[int]) -> str:
    return "/".join(map(str, starts))


def read(line: str) -> Optional[Outcome]:
    """The outcome of such a line."""
    whole = re.fullmatch(r"Linux (\S+): (.*): 0 wrong", line)
    if not whole:
        return None
    return Outcome(whole[1], dict(item.rsplit(" ", 1) for item in whole[2].split(", ")))
