#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tables.py: are the tables of findings, messages and variables sound?

Findings.def, VendorCodes.def, env.def: order, words, domains of defaults, the marks of a source,
that a row names only rows that exist, and that every HW: id has an entry in docs/hardware.md.
table_pages.py generates the pages' copies of the tables.

Prints one line for each fault, FILE:LINE: what, then a count. Exit status 0 when
there is none, else 1.
"""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parents[2]
FINDINGS = ROOT / "lib/Audit/Findings.def"
MESSAGES = ROOT / "lib/Audit/VendorCodes.def"
VARIABLES = ROOT / "runtime/include/mpg/env.def"
WORDS = ROOT / "lib/Audit/FccWords.def"
DIRECTIVES = ROOT / "lib/Ocl/OclWords.def"
RANKS = ROOT / "runtime/include/mpg/ranks.def"

GROUPS = ("layout", "loader", "heap", "tags", "hygiene", "job", "malformed")
SEVERITIES = ("error", "warning", "note", "off")
TARGETS = ("fugaku", "mpg", "libhugetlbfs", "thp")
TYPES = ("choice", "uint", "policy3", "file", "pair")
OWNERS = ("fujitsu", "glibc", "flib", "mpg")
MARK = re.compile(r"\b(measured|read|inferred)\b(?!\()")  # read(2) is no mark
TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_]+)|([(),])', re.DOTALL)
COMPILER = re.compile(r"(gcc|clang|flang|fcc|lld|mold|bfd|gold|ld\.mpg|any):(\s+-\S+)+$")


@dataclass
class Row:
    """One use of a table's macro: its arguments as text."""

    line: int
    args: List[str]


@dataclass
class Variable:
    """One row of env.def."""

    line: int
    name: str
    type: str
    values: str
    default: str
    needs: str
    decided: str
    owner: str
    what: str


def unescape(text: str) -> str:
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def read_rows(path: Path, macro: str) -> List[Row]:
    """The rows of a table; adjacent string literals are joined."""
    text = path.read_text(encoding="ascii")
    rows = []
    for start in re.finditer(rf"^{macro}\(", text, re.MULTILINE):
        line = text.count("\n", 0, start.start()) + 1
        args, current, at = [], "", start.end()
        while True:
            token = TOKEN.match(text, at)
            if not token:
                sys.exit(f"{path}:{line}: not a table row")
            at = token.end()
            literal, word, mark = token.groups()
            if literal is not None:
                current += unescape(literal)
            elif word:
                current = word
            elif mark in (",", ")"):
                args.append(current)
                current = ""
                if mark == ")":
                    break
        rows.append(Row(line, args))
    return rows


def read_variables(path: Path = VARIABLES) -> List[Variable]:
    return [Variable(row.line, *row.args) for row in read_rows(path, "MPG_ENV")]


def llvm_folder() -> Path:
    """Programs of the newest LLVM at hand."""
    found = sorted(Path("/usr/lib").glob("llvm-*/bin/llvm-tblgen"),
                   key=lambda path: int(re.findall(r"\d+", str(path))[0]))
    program = found[-1] if found else shutil.which("llvm-tblgen")
    if not program:
        sys.exit("error: no llvm-tblgen; install llvm-22-dev, or give --llvm-bin")
    return Path(program).parent


def read_options(program: str, llvm_bin: Optional[Path] = None) -> List[Dict]:
    """The options of a program that --help lists, and their short forms, in the
    order of Options.td; those that all programs have are the last ones."""
    llvm_bin = llvm_bin or llvm_folder()
    include = subprocess.run([llvm_bin / "llvm-config", "--includedir"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout.strip()
    records = json.loads(subprocess.run(
        [llvm_bin / "llvm-tblgen", "--dump-json", "-I", include, "-I", ROOT / "tools",
         ROOT / "tools" / program / "Options.td"],
        check=True, stdout=subprocess.PIPE, text=True).stdout)
    options = [records[name] for name in records["!instanceof"]["Option"]]

    def place(option: Dict) -> tuple:
        path, line = option["!locs"][0].split(":")[:2]
        return Path(path).name != "Options.td", int(line)

    return sorted((option for option in options if option["HelpText"] or
                   (option["Alias"] and option["Prefixes"] == ["-"])), key=place)


def spelling(option: Dict) -> str:
    """--target=a|b, -j N"""
    blank = " " if option["Kind"]["def"] == "KIND_JOINED_OR_SEPARATE" else ""
    value = option["MetaVarName"]
    return option["Prefixes"][0] + option["Name"] + (blank + value if value else "")


def command_lines(remedy: str) -> List[str]:
    """Lines of a remedy that a reader may paste, in order."""
    return [line.strip() for line in remedy.split("\n") if line.startswith("  ")]


class Report:
    def __init__(self) -> None:
        self.count = 0

    def add(self, path: Path, line: int, what: str) -> None:
        self.count += 1
        print(f"{path}:{line}: {what}")


def check_finding(path: Path, row: Row, report: Report) -> None:
    add = lambda what: report.add(path, row.line, what)
    if len(row.args) != 12:
        add(f"row has {len(row.args)} arguments")
        return
    group, severities = row.args[2], row.args[3:7]
    summary, remedy, source = row.args[7], row.args[10], row.args[11]
    if group not in GROUPS:
        add(f"no such group: {group}")
    if not set(severities) <= set(SEVERITIES):
        add(f"no such severity: {' '.join(severities)}")
    if summary.endswith(".") or "\n" in summary or len(summary) > 76:
        add("the summary is one line of at most 76 characters, no period")
    if not all(text.strip() for text in row.args[7:12]):
        add("an empty text")
    if not MARK.search(source):
        add("the source says none of measured, read, inferred")
    for line in command_lines(remedy):
        if ":" in line.split(" ")[0] and not COMPILER.match(line):
            add(f"not flags alone, or of an unknown compiler: {line}")


def check_findings(path: Path, rows: List[Row], report: Report) -> None:
    previous = 0
    for row in rows:
        check_finding(path, row, report)
        number = int(row.args[0])
        if number <= previous:
            report.add(path, row.line, f"MPG{number} stands after MPG{previous}")
        previous = max(previous, number)


def check_messages(path: Path, codes: List[Row], findings: List[Row], report: Report) -> None:
    """Vendor codes and findings must name each other."""
    known = {row.args[0]: row for row in codes}
    numbers = {f"MPG{row.args[0]}" for row in findings}
    for row in codes:
        for related in filter(None, row.args[3].split(", ")):
            if related not in numbers:
                report.add(path, row.line, f"no such finding: {related}")
    for row in findings:
        vendor = row.args[1]
        if vendor and vendor not in known:
            report.add(path, 1, f"no row for {vendor}")
        elif vendor and f"MPG{row.args[0]}" not in known[vendor].args[3].split(", "):
            report.add(path, known[vendor].line, f"{vendor} does not name MPG{row.args[0]}")


def is_number_in(values: str, value: str) -> bool:
    least, most = values.split("..")
    return value.isdigit() and int(least) <= int(value) <= int(most or value)


def is_in_domain(row: Variable, value: str) -> bool:
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


def check_variables(path: Path, rows: List[Variable], report: Report) -> None:
    by_name: Dict[str, Variable] = {}
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
        for name, value in re.findall(r"(\w+)=([\w+:]+)", row.needs + " " + row.decided):
            if name not in by_name or not is_in_domain(by_name[name], value):
                report.add(path, row.line, f"{row.name}: no such setting: {name}={value}")


def check_hardware(paths: List[Path], report: Report) -> None:
    hardware = ROOT / "docs/hardware.md"
    entries = set(re.findall(r"^\| (HW:[a-z0-9-]+) \|",
                             hardware.read_text(encoding="utf-8"), re.MULTILINE))
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            for cited in re.findall(r"HW:[a-z0-9]+(?:-[a-z0-9]+)*", line):
                if cited not in entries:
                    report.add(path, number, f"no entry {cited} in {hardware}")


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None  # copies, for a test
    findings_path, messages_path, variables_path = (
        folder / path.name if folder else path for path in (FINDINGS, MESSAGES, VARIABLES))
    report = Report()
    findings = read_rows(findings_path, "MPG_FINDING")
    messages = read_rows(messages_path, "MPG_VENDOR_CODE")
    variables = read_variables(variables_path)
    check_findings(findings_path, findings, report)
    check_messages(messages_path, messages, findings, report)
    check_variables(variables_path, variables, report)
    check_hardware([findings_path, messages_path, ROOT / "docs/findings.md"], report)
    print(f"{len(findings)} findings, {len(messages)} messages, "
          f"{len(variables)} variables, {report.count} faults")
    return 1 if report.count or not (findings and messages and variables) else 0


if __name__ == "__main__":
    sys.exit(main())
