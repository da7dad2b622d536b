#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_heads.py ROOT: whether each code file says at its beginning what it is for.

A head is the comment after the SPDX line. A .cpp needs none if the header of its name
beside it has one. `See NAME.h` in a head names a file that is there.
"""

import re
import sys
from pathlib import Path
from typing import Iterator, List

FOLDERS = ["lib", "tools", "passes", "runtime"]
SUFFIXES = {".cpp", ".h", ".c", ".S", ".td"}


def head_of(path: Path) -> str:
    """Without the SPDX line; empty if there is none."""
    lines: List[str] = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith(("//", "/*", " *", "#")) or line.startswith("#include"):
            break
        lines.append(line.strip("/#* "))
    return " ".join(lines).strip()


def wrong_in(path: Path, names: set) -> Iterator[str]:
    head = head_of(path)
    header = path.with_suffix(".h")
    if not head and not (path.suffix == ".cpp" and header.exists() and head_of(header)):
        yield "has no head"
    for name in re.findall(r"\bSee (\w+\.(?:h|cpp))\b", head):
        if name not in names:
            yield f"sends to {name}, which is not there"


def main() -> int:
    root = Path(sys.argv[1])
    files = sorted(
        path
        for folder in FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in SUFFIXES
    )
    names = {path.name for path in files}
    wrong = 0
    for path in files:
        for what in wrong_in(path, names):
            print(f"{path.relative_to(root)}: {what}")
            wrong += 1
    print(f"{len(files)} files, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
