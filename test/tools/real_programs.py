#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""real_programs.py [OPTION]... MPGRUN COMMAND...: is COMMAND the same under mpgrun?

Runs COMMAND plain and then under mpgrun, with large pages of the pool, with transparent ones, with
--children, and with a report. Every run must have the output, the errors and the status of the
first one, and write the same files. The reports have to show that libmpg was at work and which
pages the stack is on: a run in which libmpg did nothing proves nothing.

  --file FILE        the command writes FILE, which must come out the same
  --ends-by STATUS   the command ends with STATUS (negative: by a signal)
  --stack SHARE      least share of the stack on large pages; default 0.5
  --forks            the command forks: no share of the stack is asked, because
                     a fork takes it off the pool, and the kernel splits
                     transparent pages that parent and child share
  --seconds S        longest time for one run; default 600

Where the system says `never` to transparent pages they are left out.
One line of libmpg is no difference: the stack's top stays on normal pages
where the kernel has put something above it, which is a matter of chance.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile

from mpgtest.memory import TRIES, compact
from mpgtest.options import parse
from mpgtest.same import (Differs, Outcome, check_plain, compare,
                          get_outcome, read, report)

# Messages of a mode of transparent pages if the kernel had none.
IN_PIECES = "no free memory in pieces|of the stack on large pages"


def run(command: list[str], options: argparse.Namespace) -> Outcome:
    for path in options.file:
        if os.path.exists(path):
            os.remove(path)
    done = get_outcome(command, seconds=options.seconds)
    files = {path: read(path) for path in options.file if os.path.exists(path)}
    return done._replace(files=files)


def check_report(path: str, options: argparse.Namespace) -> str:
    """The report's word on the stack."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    if not report["libmpg"]:
        raise Differs("libmpg was not at work")
    for region in report["regions"]:
        if region["region"] != "stack":
            continue
        share = region["huge_bytes"] / max(region["bytes"], 1)
        # Its first part is on normal pages.
        first = 2304 << 10
        if (
            share < options.stack
            and region["bytes"] - region["huge_bytes"] > first
            and not options.forks
        ):
            raise Differs(f"only {share:.0%} of the stack on large pages")
        return f"stack {share:.0%} large"
    raise Differs("no stack in the report")


def modes(report: str) -> list[list[str]]:
    kinds = ["hugetlb"]
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    if os.path.exists(thp) and b"[never]" not in read(thp):
        kinds.append("thp")
    told = "--report=json:" + report
    words = [["--mode=hugetlb"]]
    for kind in kinds:
        words += [["--mode=" + kind, told], ["--mode=" + kind, "--children"]]
    return words


def check_mode(words: list[str], plain: Outcome, report: str, options: argparse.Namespace) -> str:
    """The result, in memory with enough free large pieces for transparent pages."""
    tries = TRIES if "--mode=thp" in words else 0
    while True:
        try:
            compare(plain, run([options.mpgrun, *words, *options.command], options))
            reports = words[-1].startswith("--report")
            return check_report(report, options) if reports else "same"
        except Differs as reason:
            if not tries or not re.search(IN_PIECES, str(reason)):
                raise
        tries -= 1
        compact()


def check(options: argparse.Namespace) -> None:
    plain = run(options.command, options)
    check_plain(plain, options.ends_by)
    print(f"plain: status {plain.status}, {len(plain.out)} bytes of output")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        for words in modes(report):
            name = " ".join(words).split(":")[0]
            try:
                found = check_mode(words, plain, report, options)
            except Differs as reason:
                raise Differs(f"{name}: {reason}") from reason
            print(f"{name}: {found}")


def main() -> int:
    options = parse(__doc__, "mpgrun", "command...", file=[], ends_by=0, stack=0.5, forks=False,
                    seconds=600.0)
    return report(lambda: check(options))


sys.exit(main())
