#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run_page.py PAGE [--prefix DIR] [--input DIR]: does PAGE show what happens?

Runs the commands of a Markdown page in the current folder, in one shell, as a
reader would, and compares what they print:

 - a block ```console has commands behind "$ " and what they print under them;
   a line of three dots stands for any lines;
 - a block ```sh has commands that have to succeed;
 - any other block after a line that ends with `NAME`: becomes the file NAME.

A comment in front of a block changes that: <!-- not run: WHY --> skips it, <!-- numbers differ -->
lets the numbers of the output differ. --prefix replaces /usr/local in commands, and its name in the
tools' output is replaced back. --input has files that the page tells the reader to have.
Prints each difference, then counts; status 1 if there is one.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List, NamedTuple

from mpgtest.options import parse
from mpgtest.run import finish

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- (not run: .+|numbers differ) -->\s*\Z")
FILE = re.compile(r"`([\w.-]+)`:\s*\Z")
NUMBER = re.compile(r"(?:0x[0-9a-f]+|\d[\d,.]*)(?: (?:[KMG]iB|B|s|ms|us|ns)\b)?")
MARK = "=== end of command"


class Step(NamedTuple):
    line: int
    command: str
    output: List[str]
    compared: bool  # a console: what is printed counts, not the status
    numbers_differ: bool


def console_steps(text: str, line: int, numbers_differ: bool) -> List[Step]:
    steps: List[Step] = []
    for offset, row in enumerate(text.splitlines()):
        if row.startswith("$ "):
            steps.append(Step(line + offset, row[2:], [], True, numbers_differ))
        elif steps:
            steps[-1].output.append(row)
    return steps


def read_page(page: str) -> List[Step]:
    """The steps of a page; writes the files that it shows."""
    steps: List[Step] = []
    for block in BLOCK.finditer(page):
        before = page[:block.start()]
        comment, name = COMMENT.search(before), FILE.search(before)
        line = before.count("\n") + 2
        if comment and comment[1].startswith("not run"):
            continue
        if block[1] == "console":
            steps += console_steps(block[2], line, bool(comment))
        elif block[1] == "sh":
            steps.append(Step(line, block[2].rstrip("\n"), [], False, False))
        elif name:
            Path(name[1]).write_text(block[2], "utf-8")
    return steps


def as_in_page(text: str, prefix: str) -> str:
    """With /usr/local for the prefix: also by its real path, in quotes if need be."""
    real = os.path.realpath(prefix)
    if real != prefix:
        text = re.sub(rf"'{re.escape(real)}([^']*)'", rf"{prefix}\1", text)
        text = text.replace(real, prefix)
    return text.replace(prefix, "/usr/local")


def run_steps(steps: List[Step], prefix: str) -> List[List[str]]:
    """The output of each command, with its status in the last line."""
    script = ""
    for step in steps:
        command = step.command.replace("/usr/local", prefix)
        script += f"{command}\nprintf '\\n{MARK} %d\\n' $?\n"
    done = subprocess.run(["bash", "-c", script], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    outputs, lines = [], []
    for line in as_in_page(done.stdout, prefix).split("\n"):
        lines.append(line.rstrip())
        if line.startswith(MARK):
            outputs.append(lines)
            lines = []
    return outputs


def normal(line: str, step: Step) -> str:
    line = line.rstrip()
    if step.numbers_differ:
        # Whether a page of the pool is reserved and untouched depends on addresses.
        line = re.sub(r", \S+ MiB set aside$", "", line)
        line = re.sub(" +", " ", NUMBER.sub("#", line))
    return line


def agrees(step: Step, printed: List[str]) -> bool:
    pattern = ""
    for line in step.output:
        dots = line.strip() == "..."
        pattern += r"(?:.*\n)*?" if dots else re.escape(normal(line, step)) + r"\n"
    text = "".join(normal(line, step) + "\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def what_differs(step: Step, output: List[str]) -> List[str]:
    *printed, last = output
    while printed and not printed[-1]:
        printed.pop()
    if step.compared:
        if agrees(step, printed):
            return []
        return list(difflib.unified_diff(step.output, printed, "page", "printed", lineterm="", n=1))
    return [] if last.endswith(" 0") else printed + [last]


def main() -> int:
    options = parse(__doc__, "page", prefix="/usr/local", input=None)
    page = Path(options.page)
    if options.input:
        shutil.copytree(options.input, ".", dirs_exist_ok=True)
    steps = read_page(page.read_text("utf-8"))
    outputs = run_steps(steps, options.prefix)
    faults = []
    for index, step in enumerate(steps):
        output = outputs[index] if index < len(outputs) else ["not reached"]
        different = what_differs(step, output)
        if different:
            faults.append("\n".join([f"{page.name}:{step.line}: $ {step.command}", *different]))
    return finish(faults, f"{page.name}: {len(steps)} commands, {{}} differ", steps)


sys.exit(main())
