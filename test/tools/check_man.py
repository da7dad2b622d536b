#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_man.py PAGE PROGRAM: does the man page agree with PROGRAM --help?

It must have the usual sections, name exactly the options that --help names with
the same values, repeat every default, say what each value of a list means, and use
only what exists in its synopsis and its examples. Most pages have their options from
Options.td (table_pages.py); the rest is written by hand.

Prints one line for each difference, PAGE: what, then a count. Exit status 0
when there is none, 1 when there are some.
"""

import os
import re
import subprocess
import sys
from typing import Dict, List, Tuple

from mpgtest.run import finish

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
            "OUTPUT", "EXAMPLES", "SEE ALSO"]
OPTION = re.compile(r"-[-\w]*\w(?:=\S+| [A-Z]+)?")


def read_help(program: str) -> Tuple[str, Dict[str, str], List[str]]:
    """The usage line, the text of --help for each option as written, and the numbers in its text
    about the exit status."""
    text = subprocess.run([program, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    usage = re.search(r"^USAGE: (.*)$", text, re.MULTILINE).group(1)
    end = re.search(r"^(?:EXIT STATUS|Status):(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    statuses = re.findall(r"\b\d+\b", end.group(1))
    options, current = {}, ""
    for line in text.split("OPTIONS:\n")[1].split("\n\n")[0].split("\n"):
        start = re.match(rf"  ({OPTION.pattern})(?: +|$)(.*)", line)
        if start:
            current = start.group(1)
            options[current] = start.group(2)
        else:
            options[current] += " " + line.strip()
    return usage, options, statuses


def read_sections(page: str) -> Dict[str, str]:
    parts = re.split(r"^# (.*)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def read_entries(section: str) -> Dict[str, str]:
    """The page's text for each option: `--a=B`, `-c` over ":   text"."""
    entries = {}
    entry = r"^((?:`[^`]+`(?:, )?)+)\n:   (.*?)(?=\n\n|\Z)"
    for names, text in re.findall(entry, section, re.MULTILINE | re.DOTALL):
        for name in re.findall(r"`([^`]+)`", names):
            entries[name] = text
    return entries


def default_words(text: str) -> List[str]:
    """Words of a "(default ...)" that are values: 64K, auto, error."""
    found = re.search(r"\(default:? ([^)]*)\)", text)
    words = re.findall(r"\w+", found.group(1)) if found else []
    values = {"error", "text", "auto", "fugaku"}
    return [word for word in words if word in values or word[0].isdigit()]


def choices(option: str) -> List[str]:
    """["text", "line"] for --format=text|line."""
    value = option.partition("=")[2]
    return [word for word in value.split("|") if word.islower()]


def examples(sections: Dict[str, str]) -> List[str]:
    """Command lines of the synopsis and the examples."""
    lines = re.findall(r"^`(.*)`$", sections["SYNOPSIS"], re.MULTILINE)
    return lines + re.findall(r"^    (.*)$", sections["EXAMPLES"], re.MULTILINE)


def check_example(line: str, name: str, options: Dict[str, str]) -> List[str]:
    known = {re.split(r"[= ]", option)[0]: option for option in options}
    wrong = []
    call = line[line.index(name):].split("||")[0]
    for word in re.findall(r"(?<= )--?\w[\w-]*(?:=\S+)?", call):
        option, _, value = word.partition("=")
        if option not in known:
            wrong.append(f"'{line}' uses {option}, which --help does not name")
        elif value not in (choices(known[option]) or [value]):
            wrong.append(f"'{line}' gives {option} the value {value}")
    return wrong


def differences(page: str, program: str) -> List[str]:
    usage, options, statuses = read_help(program)
    sections = read_sections(page)
    if [name for name in sections if name not in ("FINDINGS", "ENVIRONMENT", "FILES")] != SECTIONS:
        return [f"sections are {', '.join(sections)}"]
    entries = read_entries(sections["OPTIONS"])
    found = []
    if f"`{usage}`" not in sections["SYNOPSIS"]:
        found.append(f"SYNOPSIS lacks `{usage}`")
    for option, text in options.items():
        if option not in entries:
            found.append(f"OPTIONS lacks {option}")
            continue
        found += [f"{option} does not say the default {word}"
                  for word in default_words(text)
                  if word not in entries[option]]
        found += [f"nowhere says what {word} of {option} means"
                  for word in choices(option) if f"`{word}`" not in page]
    found += [f"OPTIONS has {option}, --help has not"
              for option in entries if option not in options
              and not re.fullmatch(r"-\w", option)]  # an alias, as -h
    listed = re.findall(r"^\| (\d+) \|", sections["EXIT STATUS"], re.MULTILINE)
    if listed != statuses:
        found.append(f"EXIT STATUS lists {' '.join(listed)}")
    for line in examples(sections):
        found += check_example(line, os.path.basename(program), options)
    return found


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, program = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        found = differences(file.read(), program)
    return finish([f"{path}: {what}" for what in found], "check_man.py: {} differences")


sys.exit(main())
