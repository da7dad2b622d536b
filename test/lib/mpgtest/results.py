#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Appends a long run to test/soak/results.tsv; the site shows the last of each program.

A soak program in Python ends with `sys.exit(run_recorded(main))`; one in sh hands its
command line to this file. With MPG_SOAK_RECORD=1 the program is then started once more
without that variable: its output is passed on, and its last line becomes the result.
Tests do not set the variable, so they write nothing.
"""

from __future__ import annotations

import csv
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, Iterator

REPO = Path(__file__).resolve().parents[3]
RESULTS = REPO / "test/soak/results.tsv"
FIELDS = ["program", "seed", "count", "options", "commit", "machine", "status", "result", "date"]
SWITCH = "MPG_SOAK_RECORD"
LONGEST = 240  # characters of a result
# A program that prints its counts in a line for each kind ends with several of these.
COUNTS = re.compile(r"[\w-]+: +\d")


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", REPO, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip()


def commit() -> str:
    """The commit at work; with a + if files differ from it."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".",
                  ":!test/soak/results.tsv")
    return (git("rev-parse", "--short=9", "HEAD") or "-") + ("+" if changed else "")


def machine() -> str:
    text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    model = re.search(r"^model name\s*: (.*)", text, re.MULTILINE)
    kernel = ".".join(platform.release().split(".")[:2])
    return (f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, "
            f"Linux {kernel}, load {os.getloadavg()[0]:.0f}")


def option(arguments: list[str], name: str) -> str:
    """The value of --NAME V or --NAME=V, taken out of the arguments; - if absent."""
    for at, word in enumerate(arguments):
        if word == f"--{name}" and at + 1 < len(arguments):
            value = arguments[at + 1]
            del arguments[at:at + 2]
            return value
        if word.startswith(f"--{name}="):
            del arguments[at]
            return word.partition("=")[2]
    return "-"


def get_result(lines: list[str], name: str) -> str:
    """The last line, or all lines of counts at the end."""
    last = lines[-1:]
    while COUNTS.match(lines[-1 - len(last)] if len(last) < len(lines) else ""):
        last.insert(0, lines[-1 - len(last)])
    text = "; ".join(" ".join(line.split()) for line in last)
    return re.sub(rf"^{re.escape(name)}: ", "", text)[:LONGEST] or "-"


def row(command: list[str], status: int, lines: list[str]) -> dict[str, str]:
    """One line of the table. Of paths only the last part is kept."""
    name, arguments = Path(command[0]).name, command[1:]
    seed, count = option(arguments, "seed"), option(arguments, "count")
    words = [re.sub(r"[^=\s]*/", "", word) for word in arguments]
    return {"program": name, "seed": seed, "count": count,
            "options": " ".join(words) or "-", "commit": commit(), "machine": machine(),
            "status": str(status), "result": get_result(lines, name),
            "date": datetime.date.today().isoformat()}


def append(entry: dict[str, str], path: Path = RESULTS) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.DictWriter(file, FIELDS, dialect="excel-tab", lineterminator="\n",
                       quoting=csv.QUOTE_NONE, quotechar=None).writerow(entry)


def read(path: Path = RESULTS) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, dialect="excel-tab", quoting=csv.QUOTE_NONE)


def record(command: list[str]) -> int:
    """Runs the command, passes on what it prints, appends its row; its status."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    environment.pop(SWITCH, None)
    if {"--help", "-h", "--list"} & set(command):
        return subprocess.run(command, env=environment, check=False).returncode
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                          env=environment) as program:
        for line in program.stdout or ():
            print(line, end="", flush=True)
            if line.strip():
                lines = [*lines[-9:], line]
    append(row(command, program.returncode, lines),
           Path(os.environ.get("MPG_SOAK_RESULTS", RESULTS)))
    return program.returncode


def run_recorded(main: Callable[[], int]) -> int:
    """main(), or with MPG_SOAK_RECORD=1 this program as record() runs it."""
    return record(sys.argv) if os.environ.get(SWITCH, "0") not in ("", "0") else main()


if __name__ == "__main__":
    sys.exit(record(sys.argv[1:]))
