#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""site_blocks.py FOLDER: fills the blocks of pages that only the site has.

FOLDER is a copy of docs/. Its findings.md gets a section for each finding and tables of messages,
its coming-from-fcc.md the tables of words and directives, and its environment.md those of
variables; `mpgaudit --explain` prints them as well. Its soak.md gets the last result of each long
run, from test/soak/results.tsv, its measured.md the figures of test/bench/measured.tsv, its
design.md the list of who includes whom. A block is between <!-- NAME: ... --> and
<!-- end of NAME -->.
"""

import os
import re
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Callable, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "test/tools"), str(ROOT / "test/lib")]
import tables  # noqa: E402
from mpgtest import results  # noqa: E402
from table_pages import (VARIABLE_BLOCKS, WIDTH, cell, mark, table, variables,  # noqa: E402
                         with_block)

SUB_CODES = re.compile(r"Sub-codes?: ([^.]*(?:\.(?! )[^.]*)*)\.(?: |$)")

# Kinds of words that the page leaves to --explain, as it does words with no answer.
SILENT = ("byDefault", "older")


def fill(text: str, indent: str = "") -> str:
    """Paragraph of plain text; words that are code are marked as such."""
    words = " ".join(word if word.startswith(("**", "`")) else mark(word) for word in text.split())
    return textwrap.fill(words, WIDTH, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def sub_codes(text: str) -> List[str]:
    """A list of \"NAME, when it is reported\" with ; between as a list."""
    items = [item.partition(", ") for item in text.split("; ")]
    if len(items) < 2 or not all(rest for _, _, rest in items):
        return []
    names = [" and ".join(f"`{name}`" for name in names.split(" and ")) for names, _, _ in items]
    return [fill(f"- {name}: {rest}.", "  ") for name, (_, _, rest) in zip(names, items)]


def paragraph(text: str) -> List[str]:
    found = SUB_CODES.search(text)
    items = sub_codes(found[1]) if found else []
    if not items:
        return [fill(text)] if text.strip() else []
    return [fill(text[:found.start()] + "Sub-codes:"), "\n".join(items),
            *paragraph(text[found.end():])]


def joined(commands: List[str]) -> List[str]:
    """Compilers that take the same flags share a line."""
    compilers: Dict[str, List[str]] = {}
    for line in commands:
        name, _, flags = line.partition(":")
        compilers.setdefault(flags.strip() if flags and tables.COMPILER.match(line) else line,
                             []).append(name)
    return [flags if flags in commands else f"{', '.join(names)}: {flags}"
            for flags, names in compilers.items()]


def paragraphs(lead: str, text: str) -> List[str]:
    """\"**lead.** text\": paragraphs, and command lines as blocks.

    A text that says that its lines are another finding's shows them there only."""
    parts: List[str] = []
    elsewhere = "lines are those of MPG" in text
    for block in f"**{lead}.** {text}".split("\n\n"):
        parts += paragraph(" ".join(line for line in block.split("\n")
                                    if not line.startswith("  ")))
        if not elsewhere and (commands := tables.command_lines(block)):
            parts.append("```\n" + "\n".join(joined(commands)) + "\n```")
    return parts


def finding(row: tables.Row) -> str:
    """Without severities, which the man page has, and cost and source, which --explain has."""
    number, vendor = row.args[:2]
    return "\n\n".join([f"## MPG{number}" + (f" ({vendor})" if vendor else ""),
                        *paragraphs(row.args[7], row.args[8]),
                        *paragraphs("Fix", row.args[10])])


def findings() -> str:
    return "\n\n".join(finding(row) for row in tables.read_rows(tables.FINDINGS, "MPG_FINDING")
                       if row.args[2] != "malformed")


def messages() -> str:
    rows = tables.read_rows(tables.MESSAGES, "MPG_VENDOR_CODE")
    return table(["message", "meaning", "findings"],
                 [[code, cell(meaning), related]
                  for code, meaning, _, related in (row.args for row in rows)])


def malformed() -> str:
    return table(["finding", "what"],
                 [[f"MPG{row.args[0]}", row.args[7]]
                  for row in tables.read_rows(tables.FINDINGS, "MPG_FINDING")
                  if row.args[2] == "malformed"])


def answers(head: List[str], rows: List[tables.Row]) -> str:
    """Words with one answer share a row, and words that are as another one its row."""
    words: Dict[tuple, List[str]] = {}
    answer_of: Dict[str, tuple] = {}
    for row in rows:
        word, kind, *texts = row.args
        if kind in SILENT:
            continue
        alias = re.fullmatch(r"As (?:!OCL )?(\S+)\.", texts[0])
        answer = (alias and answer_of.get(alias[1])) or (kind, *texts)
        answer_of[word] = answer
        words.setdefault(answer, []).append(f"`{word}`")
    return table(head, [[", ".join(names), *answer[1:]] for kind in ("ours", "equivalent")
                        for answer, names in words.items() if answer[0] == kind])


def fcc_words() -> str:
    return answers(["word", "what to write"], tables.read_rows(tables.WORDS, "MPG_FCC_WORD"))


def directives() -> str:
    return answers(["directive", "for flang", "for clang"],
                   tables.read_rows(tables.DIRECTIVES, "MPG_OCL_WORD"))


def arrows() -> str:
    return "```text\n" + (ROOT / "docs/arrows.txt").read_text("utf-8") + "```"


def purpose(text: str) -> str:
    """The first sentence of a program's docstring, or after "NAME ...: " at its head."""
    found = (re.search(r'^"""(.+?)\.\n', text, re.MULTILINE)
             or re.search(r"^# [\w-]+(?: \S+)*?: (.+?)\.\n", text, re.MULTILINE))
    return found[1] if found else ""


def soak() -> str:
    """The long runs: what each shows, and its last recorded result."""
    folder = tables.ROOT / "test/soak"
    last = {row["program"]: row for row in results.read(folder / "results.tsv")}
    rows = []
    for path in sorted(folder.iterdir()):
        if not os.access(path, os.X_OK) or not re.fullmatch(r"[\w-]+", path.name) \
                or path.is_dir() or "_" in path.name:
            continue
        row = last.get(path.name)
        rows.append([f"`{path.name}`", purpose(path.read_text("utf-8")),
                     row["result"] if row else "not recorded", row["date"] if row else ""])
    return table(["program", "what it shows", "last result", "date"], rows)


def measured(area: str) -> str:
    """Figures of an area; those without a script of their own have it in the page."""
    lines = (ROOT / "test/bench/measured.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t")[1:] for line in lines if line.startswith(area + "\t")]
    return table(["what", "result", "bar", "repeat with"], rows)


BLOCKS: Dict[str, Dict[str, Callable[[], str]]] = {
    "findings.md": {"findings": findings, "malformed": malformed, "messages": messages},
    "coming-from-fcc.md": {"words": fcc_words, "directives": directives},
    "design.md": {"arrows": arrows},
    "environment.md": {block: partial(variables, block) for block in VARIABLE_BLOCKS},
    "measured.md": {area: partial(measured, area)
                    for area in ("code", "heap", "auditor", "kernels", "stream", "lookup")},
    "soak.md": {"programs": soak},
}


def fill_blocks(folder: Path) -> None:
    for page, blocks in BLOCKS.items():
        path = folder / page
        text = path.read_text("utf-8")
        for name, make in blocks.items():
            text = with_block(text, name, make())
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    fill_blocks(Path(sys.argv[1]))
