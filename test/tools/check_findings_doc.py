#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do docs/findings.md and the two tables of lib/Audit say the same?

The page is written by hand, so that it reads well. This script holds it to
the tables: every finding has one section with the same number, vendor code,
group, summary and severities, the same command lines, and every number that
the table's rule names; every vendor code has a section with the same related
findings; every HW: id that is cited has an entry in docs/hardware.md. It also
looks at the tables themselves (order, words, marks of the source).

Prints one line per difference, FILE:LINE: what, then a count. Exit status 0
when there is none, 1 when there are some, 2 when a file cannot be read.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

GROUPS = ("layout", "loader", "heap", "tags", "hygiene", "job", "malformed")
SEVERITIES = ("error", "warning", "note", "off")
TARGETS = ("fugaku", "mpg", "libhugetlbfs", "thp")
MARK = re.compile(r"\b(measured|read|inferred)\b(?!\()")  # read(2) is no mark
PARTS = ("Rule", "Cost", "Remedy", "Source")

TOKEN = re.compile(r'\s+|//[^\n]*|"((?:[^"\\]|\\.)*)"|([A-Za-z0-9_]+)|([(),])')
COMPILER = re.compile(r"(gcc|clang|flang|fcc|lld|bfd|any):\s+\S")


@dataclass
class Row:
    """One use of a table's macro: its arguments as text."""

    line: int
    args: list


@dataclass
class Section:
    """What stands below one `##` heading of the page."""

    line: int
    title: str
    body: list = field(default_factory=list)

    def text(self):
        return "\n".join(self.body)


class Report:
    def __init__(self):
        self.count = 0

    def add(self, path, line, what):
        self.count += 1
        print(f"{path}:{line}: {what}")


def unescape(text):
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")


def read_rows(path, macro):
    """The rows of a .def file; adjacent string literals are joined."""
    text = path.read_text(encoding="ascii")
    rows = []
    for start in re.finditer(rf"^{macro}\(", text, re.MULTILINE):
        line = text.count("\n", 0, start.start()) + 1
        args, current, at = [], None, start.end()
        while True:
            token = TOKEN.match(text, at)
            if not token:
                sys.exit(f"{path}:{line}: not a table row")
            at = token.end()
            literal, word, mark = token.groups()
            if literal is not None:
                current = (current or "") + unescape(literal)
            elif word:
                current = word
            elif mark in (",", ")"):
                args.append(current)
                current = None
                if mark == ")":
                    break
        rows.append(Row(line, args))
    return rows


def read_sections(path):
    sections = []
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            sections.append(Section(number, line[3:].strip()))
        elif sections:
            sections[-1].body.append(line)
    return sections


def command_lines(remedy):
    """Lines of a remedy that a reader may paste, in order."""
    return [line.strip() for line in remedy.split("\n") if line.startswith("  ")]


def fenced_lines(section):
    lines, fenced = [], False
    for line in section.body:
        if line.startswith("```"):
            fenced = not fenced
        elif fenced and line.strip():
            lines.append(line.strip())
    return lines


def numbers(text):
    """Numbers of a text, without thousands separators."""
    return set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", text)))


def part_of(section, name):
    """The text from **Name.** to the next such mark."""
    found = re.search(rf"\*\*{name}\.\*\*(.*?)(?=\n\*\*[A-Z][a-z]+\.\*\*|\Z)",
                      section.text(), re.DOTALL)
    return found.group(1).strip() if found else ""


def heading_of(row):
    number, vendor = row.args[0], row.args[1]
    return f"MPG{number} ({vendor})" if vendor else f"MPG{number}"


def check_row(path, row, report):
    """Rules that a row of Findings.def must keep by itself."""
    add = lambda what: report.add(path, row.line, what)
    if len(row.args) != 12 or None in row.args:
        add(f"row has {len(row.args)} arguments, or an empty one")
        return False
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
            add(f"a command line for an unknown compiler: {line}")
    return True


def check_finding(page, section, row, report):
    add = lambda what: report.add(page, section.line, f"{section.title}: {what}")
    group, severities, summary = row.args[2], row.args[3:7], row.args[7]
    lead = f"**{summary}** (group `{group}`)"
    if lead not in section.body:
        add(f"no line '{lead}'")
    for cells in (TARGETS, severities):
        wanted = "| " + " | ".join(cells) + " |"
        if wanted not in section.body:
            add(f"no line '{wanted}'")
    for part in PARTS:
        if not part_of(section, part):
            add(f"**{part}.** is missing")
    if fenced_lines(section) != command_lines(row.args[10]):
        add("command lines differ from the table's remedy")
    for part, text in zip(PARTS[:2], row.args[8:10]):
        lost = numbers(text) - numbers(part_of(section, part))
        if lost:
            add(f"**{part}.** lacks the table's number(s) "
                + ", ".join(sorted(lost)))


def check_order(path, rows, report):
    previous = 0
    for row in rows:
        number = int(row.args[0])
        if number <= previous:
            report.add(path, row.line, f"MPG{number} stands after MPG{previous}")
        previous = max(previous, number)


def check_sections(page, sections, wanted, pattern, report):
    """Pairs sections with rows by title; reports what has no partner."""
    by_title = {}
    for section in sections:
        if section.title in by_title:
            report.add(page, section.line, f"second section {section.title}")
        by_title[section.title] = section
        if re.match(pattern, section.title) and section.title not in wanted:
            report.add(page, section.line, f"no such row: {section.title}")
    pairs = []
    for title, row in wanted.items():
        if title in by_title:
            pairs.append((by_title[title], row))
        else:
            report.add(page, 1, f"no section '## {title}'")
    lines = [section.line for section, _ in pairs]
    if lines != sorted(lines):
        report.add(page, lines[0], "sections are not in the order of the table")
    return pairs


def check_vendor(table, codes, findings, report):
    """Vendor codes and findings must name each other."""
    known = {row.args[0]: row for row in codes}
    numbers_known = {f"MPG{row.args[0]}" for row in findings}
    for row in codes:
        for related in filter(None, row.args[3].split(", ")):
            if related not in numbers_known:
                report.add(table, row.line, f"no such finding: {related}")
    for row in findings:
        vendor = row.args[1]
        if not vendor:
            continue
        if vendor not in known:
            report.add(table, 1, f"no row for {vendor}")
        elif f"MPG{row.args[0]}" not in known[vendor].args[3].split(", "):
            report.add(table, known[vendor].line,
                       f"{vendor} does not name MPG{row.args[0]}")


def check_vendor_section(page, section, row, report):
    related = row.args[3] or "none"
    if f"Related findings: {related}." not in section.text():
        report.add(page, section.line,
                   f"{section.title}: no text 'Related findings: {related}.'")
    if not part_of(section, "Meaning") or not part_of(section, "Action"):
        report.add(page, section.line,
                   f"{section.title}: **Meaning.** or **Action.** is missing")


def check_hardware(paths, hardware, report):
    entries = set(re.findall(r"^\| (HW:[a-z0-9-]+) \|",
                             hardware.read_text(encoding="utf-8"), re.MULTILINE))
    for path in paths:
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            for cited in re.findall(r"HW:[a-z0-9]+(?:-[a-z0-9]+)*", line):
                if cited not in entries:
                    report.add(path, number, f"no entry {cited} in {hardware}")


def run(findings_path, vendor_path, page, hardware):
    report = Report()
    findings = read_rows(findings_path, "MPG_FINDING")
    codes = read_rows(vendor_path, "MPG_VENDOR_CODE")
    sections = read_sections(page)
    findings = [row for row in findings if check_row(findings_path, row, report)]
    check_order(findings_path, findings, report)
    if not findings or not codes:
        report.add(findings_path, 1, "a table without rows")
    wanted = {heading_of(row): row for row in findings}
    for section, row in check_sections(page, sections, wanted, "MPG", report):
        check_finding(page, section, row, report)
    check_vendor(vendor_path, codes, findings, report)
    wanted = {row.args[0]: row for row in codes}
    for section, row in check_sections(page, sections, wanted, "LPG|FHE", report):
        check_vendor_section(page, section, row, report)
    check_hardware((findings_path, vendor_path, page), hardware, report)
    print(f"{len(findings)} findings, {len(codes)} vendor codes, "
          f"{report.count} differences")
    return 1 if report.count else 0


def main():
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--findings", type=Path,
                        default=root / "lib/Audit/Findings.def")
    parser.add_argument("--vendor", type=Path,
                        default=root / "lib/Audit/VendorCodes.def")
    parser.add_argument("--page", type=Path, default=root / "docs/findings.md")
    parser.add_argument("--hardware", type=Path,
                        default=root / "docs/hardware.md")
    args = parser.parse_args()
    try:
        return run(args.findings, args.vendor, args.page, args.hardware)
    except (OSError, UnicodeDecodeError) as error:
        print(f"check_findings_doc: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
