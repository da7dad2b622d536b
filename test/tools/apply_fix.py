#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a program that is linked with the printed flags pass the audit?

  apply_fix.py [OPTION...] OUT LINK-COMMAND...

links OUT, audits it, takes the flags that mpgaudit prints under all its findings, links again with
these flags after the same command, and audits again. A finding prints several lines, each
sufficient by itself, with labels (gcc, clang, lld, ...): uses the first of --label that it has. The
script knows no flag and no finding: it does what a reader does who pastes the output. Fails unless
the first audit finds something and prints flags, the second ends with status 0, and both programs
print the same. Prints `flags:` and the second report, for the test to check.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
from typing import List, Tuple

from mpgtest.options import parse


def fail(what: str) -> None:
    sys.exit(f"apply_fix.py: {what}")


def audit(options: argparse.Namespace, *more: str) -> Tuple[int, str]:
    command = [options.mpgaudit, "--fail-on=warning", *options.audit.split(), *more, options.out]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=600, check=False)
    return run.returncode, run.stdout


def printed_fixes(options: argparse.Namespace, *more: str) -> Tuple[int, List[str]]:
    """Exit status, and the text under the findings."""
    if not options.json:
        status, text = audit(options, *more)
        return status, text.split("\n  fix: ")[1:]
    status, text = audit(options, "--format=json", *more)
    findings = json.loads(text)["files"][0]["findings"]
    return status, [finding.get("fix", "") for finding in findings]


def chosen_line(fix: str, labels: List[str]) -> str:
    """The flags of the first of \\p labels that has a line in \\p fix."""
    for label in labels:
        line = re.search(rf"^ +{label}(?:, g\+\+, gfortran)?: +(\S.*)$", fix, re.MULTILINE)
        if line:
            return line[1]
    return ""


def printed_flags(options: argparse.Namespace) -> List[str]:
    """Each line's flags once, in the order in which they are printed."""
    labels = options.label.split(",")
    status, fixes = printed_fixes(options)
    # The lines of the compiler that made the file; all of them with -v.
    if not any(chosen_line(fix, labels[:1]) for fix in fixes):
        status, fixes = printed_fixes(options, "-v")
    if status != 1:
        fail(f"status {status} of the first audit, not 1")
    lines = [chosen_line(fix, labels) for fix in fixes]
    flags = [flag for line in dict.fromkeys(lines) for flag in shlex.split(line)]
    if not flags:
        fail(f"no flags for {options.label} in the first report")
    return flags


def link_and_run(options: argparse.Namespace, flags: List[str], then) -> Tuple[object, str]:
    """Links, calls \\p then, runs; the result of \\p then and the output."""
    subprocess.run(options.link + flags + ["-o", options.out], check=True)
    result = then()
    if options.run is None:
        return result, ""
    run = subprocess.run(options.run.split() + [options.out], check=True,
                         stdout=subprocess.PIPE, text=True, timeout=600)
    if not run.stdout:
        fail("the program prints nothing, so nothing can be compared")
    return result, run.stdout


def main() -> int:
    options = parse(
        __doc__, "out", "link...", label="gcc", mpgaudit="mpgaudit", audit="",
        json={"action": "store_true", "help": "take them from `fix` of the JSON report"},
        run={"default": None, "help": "run the programs, behind this command if any"})
    flags, before = link_and_run(options, [], lambda: printed_flags(options))
    print("flags:", *flags, flush=True)
    (status, report), after = link_and_run(options, flags, lambda: audit(options))
    print(report, end="")
    if status != 0:
        fail(f"status {status} of the second audit, not 0")
    if before != after:
        fail(f"output differs: {before!r} and {after!r}")
    return 0


sys.exit(main())
