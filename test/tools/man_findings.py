#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""man_findings.py PAGE [--write]: is the section FINDINGS of PAGE the table?

The section is made from lib/Audit/Findings.def, one row a finding: number,
vendor's number, group, severity for each target, summary. Prints the lines
that differ and ends with 1 if there are any; with --write it puts them right.
"""

import difflib
import sys
from pathlib import Path

from check_findings_doc import TARGETS, read_rows

TABLE = Path(__file__).resolve().parents[2] / "lib/Audit/Findings.def"
HEADING = "# FINDINGS\n"
LEAD = """
Severity for each target; `off` is looked for only when it is named. Details:
`mpgaudit --explain=MPG103`.
"""


def section() -> str:
    head = ["finding", "vendor's", "group", *TARGETS, "what"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in read_rows(TABLE, "MPG_FINDING"):
        number, vendor, group, *severities = row.args[:7]
        cells = [f"MPG{number}", vendor or " ", group, *severities, row.args[7]]
        lines.append("| " + " | ".join(cells) + " |")
    return LEAD + "\n" + "\n".join(lines) + "\n\n"


def main() -> int:
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    page = Path(sys.argv[1])
    before, heading, rest = page.read_text("utf-8").partition(HEADING)
    if not heading:
        print(f"{page}: no section FINDINGS")
        return 1
    text, mark, after = rest.partition("\n# ")
    text += "\n"
    wanted = section()
    if sys.argv[2:]:
        page.write_text(before + heading + wanted.rstrip("\n") + "\n" + mark
                        + after, "utf-8")
        return 0
    wrong = [line for line in difflib.unified_diff(
        text.strip("\n").split("\n"), wanted.strip("\n").split("\n"),
        str(page), str(TABLE.name), lineterm="", n=0)]
    print("\n".join(wrong))
    print(f"man_findings.py: {'differs' if wrong else 'the same'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
