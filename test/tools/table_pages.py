#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is what docs/ repeats of the tables up to date?

Pages have blocks between <!-- NAME: ... --> and <!-- end of NAME -->. The text of a
block is made here from a table of the code: the rows of libmpg.md and of the man page of
mpgaudit, the options of man pages from each program's Options.td, the variables of mpgrun's, and a
table of environment.md from the recorded long runs. All else in a page is written by hand. Prints
the lines that differ and ends with 1 if there are any; --write corrects them. FOLDER takes the
place of docs/, for tests; --llvm-bin is the folder of llvm-tblgen and llvm-config. Blocks that only the
site has are made by docs/site/site_blocks.py.
"""

import difflib
import re
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Callable, Dict, List, Optional

import tables

from mpgtest import results, text_pages
from mpgtest.options import parse

WIDTH = 80
# Formatted as code: options, sections, paths, names with _ or (), files.
CODE = re.compile(r"--?[A-Za-z]\S*|\.[A-Za-z]\S*|/\w\S*|_*[A-Za-z]\w*_\w*\*?(=\S*)?"
                  r"|\w+\(\d?\)|\S*<\S*|[A-Z]\w+=\S*|\w+:\w+:\w+|\w[\w+.-]*\.(so|a|lds)(\.\d)?"
                  r"|(c|m)alloc|mallopt|s?brk|v?fork|popen|setitimer|mpgrun|numactl|fhetbo")
AROUND = re.compile(r"""([("]*)(.*?)((?:(?<=[A-Z])s)?(?:'s)?[.,;:)"]*)$""")


def mark(word: str) -> str:
    before, core, after = AROUND.match(word).groups()
    return f"{before}`{core}`{after}" if CODE.fullmatch(core) else word


def table(head: List[str], rows: List[List[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += [re.sub(r"\|  (?=\|)", "| ", "| " + " | ".join(row) + " |") for row in rows]
    return "\n".join(lines)


def cell(text: str) -> str:
    return " ".join(map(mark, text.split()))


def findings_table() -> str:
    """Without those of damaged files, which findings.md lists."""
    rows = []
    for row in tables.read_rows(tables.FINDINGS, "MPG_FINDING"):
        number, vendor, group, *severities = row.args[:7]
        if group != "malformed":
            rows.append([f"MPG{number}", vendor or " ", group, *severities, row.args[7]])
    return table(["finding", "vendor's", "group", *tables.TARGETS, "what"], rows)


def needs(row: tables.Variable) -> str:
    """Without what all of its kind need, which the pages say once."""
    return "" if row.name.startswith("XOS_") and row.needs.endswith("=hugetlbfs") else row.needs


def variables(block: str) -> str:
    """The rows from the first one of this block to that of the next, by the order
    of env.def."""
    rows = tables.read_variables()
    first = [next(i for i, row in enumerate(rows) if row.name == name)
             for name in VARIABLE_BLOCKS.values()] + [len(rows)]
    at = list(VARIABLE_BLOCKS).index(block)
    rows = rows[first[at] if at else 0:first[at + 1]]
    code = lambda text: f"`{text}`".replace("|", "\\|") if text else ""
    return table(["variable", "values", "default", "needs", "decided by", "what it does"],
                 [[*map(code, (row.name, row.values, row.default, needs(row), row.decided)),
                   row.what]
                  for row in rows])


def variable_entries() -> str:
    """The variables as a man page has them; those for tests are left out."""
    entries = []
    for row in tables.read_variables():
        parts = [re.sub(r"^(?!malloc|libmpg|\w+:)\w", lambda first: first[0].upper(), row.what),
                 f"Default: {row.default}" if row.default else "",
                 f"Needs {row.needs}" if needs(row) else "",
                 f"Decided by {row.decided}" if row.decided else ""]
        if "_TEST_" not in row.name:
            entries.append(f"`{row.name}={row.values}`\n:   "
                           + textwrap.fill(". ".join(filter(None, parts)) + ".", WIDTH - 4)
                           .replace("\n", "\n    "))
    return "\n\n".join(entries)


def ranks() -> str:
    names = [row.args[0] for row in tables.read_rows(tables.RANKS, "MPG_LOCAL_RANK")]
    return textwrap.fill(", ".join(f"`{name}`" for name in names) + ".", WIDTH)


def code_pages() -> str:
    """The last recorded outcome of each kernel, by file system."""
    outcomes: Dict[str, text_pages.Outcome] = {}
    for row in results.read():
        if row["program"] in ("text-pages", "text-kernels"):
            if outcome := text_pages.read(row["result"]):
                outcomes[outcome.kernel] = outcome
    kernels = sorted(outcomes, key=lambda kernel: [int(part) for part in kernel.split(".")])
    names = list(dict.fromkeys(name for kernel in kernels for name in outcomes[kernel].found))
    found = [[outcomes[kernel].found.get(name, "") for kernel in kernels] for name in names]
    return table(["file system", *(f"Linux {kernel}" for kernel in kernels)],
                 [[name, *map(starts, cells)] for name, cells in zip(names, found)])


def starts(found: str) -> str:
    """One number where all starts have the same."""
    numbers = found.split("/")
    return numbers[0] if len(set(numbers)) == 1 else ", ".join(numbers)


def options(program: str, llvm_bin: Optional[Path]) -> str:
    """The entries of a man page; those without words of their own share one."""
    entries: List[List[str]] = []
    for option in tables.read_options(program, llvm_bin):
        if "Manual" in option:
            heading = [f"## {option['Section']}"] if "Section" in option else []
            entries.append([*heading, f"`{tables.spelling(option)}`", option["Manual"]])
        else:
            entries[-1][-2] += f", `{tables.spelling(option)}`"
    return "\n\n".join(
        "\n\n".join([*heading, f"{names}\n:   " + text.replace("\n", "\n    ")])
        for *heading, names, text in entries)


# Tables of environment.md with their first variables.
VARIABLE_BLOCKS = {"pages": "XOS_MMM_L_HPAGE_TYPE", "heap": "XOS_MMM_L_ARENA_FREE",
                   "sector": "FLIB_SCCR_CNTL", "ours": "MPG_MODE"}

PAGES: Dict[str, Dict[str, Callable[..., str]]] = {
    "man/mpgaudit.1.md": {"findings": findings_table, "options": partial(options, "mpgaudit")},
    "environment.md": {"code-pages": code_pages},
    "libmpg.md": {"ranks": ranks},
    "man/mpgrun.1.md": {"options": partial(options, "mpgrun"), "variables": variable_entries},
    **{f"man/{program}.1.md": {"options": partial(options, program)}
       for program in ("mpg-ocl", "mpgbench", "mpginfo", "mpgsim")},
}


def with_block(text: str, name: str, made: str) -> str:
    begin, end = f"<!-- {name}: ", f"<!-- end of {name} -->"
    before, found, rest = text.partition(begin)
    head, closed, after = rest.partition(end)
    if not found or not closed:
        sys.exit(f"table_pages.py: error: no block {begin}... --> to {end}")
    return before + begin + head.split("\n")[0] + f"\n\n{made}\n\n" + end + after


def main() -> int:
    given = parse(__doc__, "folder?", write=False, llvm_bin={"type": Path})
    stale = 0
    for page, blocks in PAGES.items():
        path = Path(given.folder or tables.ROOT / "docs") / page
        text = path.read_text("utf-8")
        wanted = text
        for name, make in blocks.items():
            made = make(given.llvm_bin) if isinstance(make, partial) else make()
            wanted = with_block(wanted, name, made)
        if wanted != text and given.write:
            path.write_text(wanted, "utf-8")
            print(f"{page}: written")
        elif wanted != text:
            stale += 1
            print("\n".join(difflib.unified_diff(text.split("\n"), wanted.split("\n"),
                                                 page, "its table", lineterm="", n=0)))
    print(f"{len(PAGES)} pages, {stale} are not what the tables say"
          + ("; test/tools/table_pages.py --write corrects them" if stale else ""))
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
