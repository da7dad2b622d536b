#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does every remark of the passes have its place in the documents, and back?

A remark's name is a CamelCase string in the passes' code that is neither a named argument
(ore::NV, or after a string), nor a module flag, nor one of LLVM's passes. Each has a row in
docs/remarks.md. A row with a link has a section there, with code of at most 15 lines. Rows and
sections without a remark are differences too.

Prints one line per difference, FILE: what, then a count. Exit status 0 when
there is none, 1 when there are some, 2 when a file cannot be read.
"""

import re
import sys
from pathlib import Path
from typing import Dict, List, Set

from mpgtest.options import parse
from mpgtest.run import finish

NAME = re.compile(r'(?<!NV\()(?<!ModuleFlag\()(?<!", )"([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+)"')
ROW = re.compile(r"^\| \[?`(\w+)`(?:\]\(#(\w+)\))? \| (?:passed|missed) \|", re.MULTILINE)
MOST_LINES = 15


def names_in(folder: Path) -> Set[str]:
    names: Set[str] = set()
    for path in sorted(folder.rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        # Plugin.cpp has the plugin's own name, and versions.
        if path.name != "Plugin.cpp":
            names.update(name for name in NAME.findall(text) if not name.endswith("Pass"))
    return names


def read_sections(page: str) -> Dict[str, str]:
    """The parts of the page by their "###" headings."""
    found = re.split(r"^##(?:# (.*)|.*)$", page, flags=re.MULTILINE)
    return {name: text for name, text in zip(found[1::2], found[2::2]) if name}


def check_section(name: str, text: str) -> List[str]:
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    wrong = [] if blocks else [f"{name}: no code"]
    return wrong + [f"{name}: code of more than {MOST_LINES} lines"
                    for block in blocks if block.count("\n") > MOST_LINES]


def check(names: Set[str], page: str) -> List[str]:
    rows = dict(ROW.findall(page))
    sections = read_sections(page)
    wrong = [f"{name}: no row and no section" for name in sorted(names - set(rows) - set(sections))]
    for name in sorted(set(rows) | set(sections)):
        if name not in names:
            wrong.append(f"{name}: no such remark")
        if name not in rows:
            wrong.append(f"{name}: no row in the table")
        elif rows[name] not in ("", name.lower()) or (name in sections and not rows[name]):
            wrong.append(f"{name}: the row does not link to its section")
        if name in sections:
            wrong += check_section(name, sections[name])
        elif rows.get(name):
            wrong.append(f"{name}: no section")
    return wrong


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    args = parse(__doc__, passes=root / "passes", page=root / "docs/remarks.md")
    try:
        names = names_in(args.passes)
        wrong = check(names, args.page.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_remarks_doc: error: {error}", file=sys.stderr)
        return 2
    return finish([f"{args.page}: {line}" for line in wrong],
                  f"{len(names)} remarks, {{}} differences", names)


sys.exit(main())
