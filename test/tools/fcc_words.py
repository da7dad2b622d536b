#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fcc_words.py PAGE [--write]: does PAGE have the table of FccWords.def?

Prints the rows that PAGE lacks or has too many, and ends with 1 if there are
any; with --write it puts the table right.
"""

import re
import sys
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "lib/Audit/FccWords.def"
ROW = re.compile(r'MPG_FCC_WORD\("([^"]+)", (\w+),\s+((?:"[^"]*"\s*)+)\)')


def rows():
    for word, kind, answer in ROW.findall(TABLE.read_text("utf-8")):
        text = "".join(re.findall(r'"([^"]*)"', answer))
        yield f"| `{word}` | {kind} | {text} |"


def main() -> int:
    page = Path(sys.argv[1])
    lines = page.read_text("utf-8").splitlines()
    first = lines.index("|---|---|---|") + 1
    last = next(i for i in range(first, len(lines) + 1)
                if i == len(lines) or not lines[i].startswith("|"))
    wanted = list(rows())
    if "--write" in sys.argv:
        page.write_text("\n".join(lines[:first] + wanted + lines[last:]) + "\n", "utf-8")
        return 0
    for line in wanted:
        if line not in lines[first:last]:
            print("missing:", line)
    for line in lines[first:last]:
        if line not in wanted:
            print("not in the table:", line)
    print(f"{len(wanted)} words")
    return 0 if wanted == lines[first:last] else 1


if __name__ == "__main__":
    sys.exit(main())
