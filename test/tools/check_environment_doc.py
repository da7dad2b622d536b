#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do docs/environment.md and runtime/include/mpg/env.def say the same?

The page is written by hand. This script holds it to the table: every variable
has one row with the same values, default, conditions and words, in the order of
the table, and there is no row for anything else. The variables by which ranks
of an MPI job are told apart are those of ranks.def beside it. The table itself
is looked at too: settings that it names exist and are in their domain.

Prints one line per difference, FILE:LINE: what, then a count. Exit status 0
when there is none, 1 when there are some, 2 when a file cannot be read.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List

TOKEN = re.compile(r'\s+|/\*.*?\*/|"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_]+)|([(),])', re.S)
TYPES = ("choice", "uint", "policy3", "file", "pair")
OWNERS = ("fujitsu", "glibc", "flib", "mpg")


@dataclass
class Row:
    """One variable, from either file."""

    line: int
    name: str
    values: str
    default: str
    needs: str
    decided: str
    what: str
    type: str = ""
    owner: str = ""


class Report:
    def __init__(self) -> None:
        self.count = 0

    def add(self, path: Path, line: int, what: str) -> None:
        self.count += 1
        print(f"{path}:{line}: {what}")


def read_table(path: Path) -> List[Row]:
    """The rows of env.def; adjacent string literals are joined."""
    text = path.read_text(encoding="ascii")
    rows = []
    for start in re.finditer(r"^MPG_ENV\(", text, re.MULTILINE):
        args: List[str] = []
        literal, at = None, start.end()
        while len(args) < 8:
            token = TOKEN.match(text, at)
            if not token:
                sys.exit(f"{path}: not a row: {text[start.start():at + 20]!r}")
            at = token.end()
            string, word, mark = token.groups()
            if string is not None:
                literal = (literal or "") + string
            elif word:
                literal = word
            elif mark:
                args.append(literal or "")
                literal = None
        name, kind, values, default, needs, decided, owner, what = args
        line = text.count("\n", 0, start.start()) + 1
        rows.append(
            Row(line, name, values, default, needs, decided, what, kind, owner)
        )
    return rows


def read_page(path: Path) -> List[Row]:
    """Rows of the page's tables whose first cell is the name of a variable."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 6 or not re.fullmatch(r"`[A-Z0-9_]+`", cells[0]):
            continue
        plain = [cell.replace("\\|", "|").strip("`") for cell in cells]
        rows.append(Row(number, *plain))
    return rows


def is_number_in(values: str, value: str) -> bool:
    least, most = values.split("..")
    return value.isdigit() and int(least) <= int(value) <= int(most or value)


def is_in_domain(row: Row, value: str) -> bool:
    """For the defaults and conditions that the table itself names."""
    if row.type == "uint":
        return is_number_in(row.values, value)
    if row.type == "pair":
        both = zip(row.values.split(","), value.split(","))
        return value.count(",") == 1 and all(is_number_in(*one) for one in both)
    words = row.values.split("|")
    if row.type == "policy3":
        return len(value.split(":")) == 3 and set(value.split(":")) <= set(words)
    return value in words


def check_table(path: Path, rows: List[Row], report: Report) -> None:
    by_name: Dict[str, Row] = {}
    for row in rows:
        add = lambda what: report.add(path, row.line, f"{row.name}: {what}")
        if row.name in by_name:
            add("second row")
        by_name[row.name] = row
        if row.type not in TYPES or row.owner not in OWNERS:
            add(f"no such type or owner: {row.type}, {row.owner}")
        if row.default and not is_in_domain(row, row.default):
            add(f"the default {row.default} is not in the domain")
        if not row.what or row.what.endswith("."):
            add("help is empty or ends with a period")
    for row in rows:
        for setting in re.findall(r"(\w+)=([\w+:]+)", row.needs + " " + row.decided):
            other = by_name.get(setting[0])
            if not other or not is_in_domain(other, setting[1]):
                report.add(path, row.line, f"{row.name}: no such setting: {setting}")


def check_page(page: Path, rows: List[Row], table: List[Row], report: Report) -> None:
    wanted = {row.name: row for row in table}
    for row in rows:
        right = wanted.get(row.name)
        if not right:
            report.add(page, row.line, f"no such variable: {row.name}")
            continue
        for field in ("values", "default", "needs", "decided", "what"):
            have, want = getattr(row, field), getattr(right, field)
            if have != want:
                report.add(
                    page, row.line, f"{row.name}: {field} is {have!r}, not {want!r}"
                )
    names = [row.name for row in rows]
    for row in table:
        if names.count(row.name) != 1:
            report.add(page, 1, f"{names.count(row.name)} rows for {row.name}")
    if not report.count and names != [row.name for row in table]:
        report.add(page, rows[0].line, "rows are not in the order of the table")


def check_ranks(page: Path, table: Path, report: Report) -> None:
    used = re.findall(
        r'^MPG_LOCAL_RANK\("(\w+)"\)', table.read_text("utf-8"), re.MULTILINE
    )
    section = page.read_text(encoding="utf-8").split("## Ranks of an MPI job")[-1]
    listed = re.findall(r"`([A-Z0-9_]+)`", section)
    if not used or used != listed:
        report.add(page, 1, f"ranks: the page has {listed}, {table} {used}")


def run(root: Path, table_path: Path, page: Path) -> int:
    report = Report()
    table, rows = read_table(table_path), read_page(page)
    check_table(table_path, table, report)
    check_page(page, rows, table, report)
    check_ranks(page, root / "runtime/include/mpg/ranks.def", report)
    print(f"{len(table)} variables, {report.count} differences")
    return 1 if report.count or not table else 0


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--table", type=Path, default=root / "runtime/include/mpg/env.def"
    )
    parser.add_argument("--page", type=Path, default=root / "docs/environment.md")
    args = parser.parse_args()
    try:
        return run(root, args.table, args.page)
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_environment_doc: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
