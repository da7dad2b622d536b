#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_heap.py [OPTION]... LIBMPG COMMAND...: is COMMAND the same on its heap?

Runs COMMAND plain, and then with LIBMPG preloaded: with its defaults, and again for each --with.
Every run must have the output, the errors and the status of the first one, and leave the same files
in the new, empty folder that it runs in. A second preloaded library, heap_witness.c, has to find
the heaps of all programs that COMMAND starts on large pages: a run in which libmpg did nothing
proves nothing.

  --with SETTINGS    variables for one more run, as in `A=1 B=2`
  --ends-by STATUS   COMMAND ends with STATUS (negative: by a signal)
  --programs N       the witness must have seen the start of N programs
  --heap KIND        what the witness must see (hugetlb, thp, normal); default:
                     hugetlb, or thp with MPG_MODE=thp. At the end hugetlb may
                     have been left: a fork takes a program off the pool
  --front FILE       a library to preload before LIBMPG
  --behind FILE      a library to preload behind it
  --drop REGEX       what is taken out of both outputs before they are compared,
                     such as times; may be given often
  --seconds S        longest time for one run; default 600
  --together         all runs at once, for a COMMAND that mostly waits

Ignores two lines of libmpg that depend on the machine's state: that the stack's top stays on normal
pages because the kernel has put something above it, and with MPG_MODE=thp that the kernel found no
transparent pages.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mpgtest.options import parse
from mpgtest.run import output, without_settings
from mpgtest.same import (Differs, Outcome, check_plain, compare,
                          get_outcome, read, report)

NO_THP = r"^mpg: heap: .* on transparent huge pages .*\n"


@dataclass
class Run:
    result: Outcome
    seen: list[str]  # what the witness said, a line each


def run(settings: dict[str, str], options: argparse.Namespace) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        chance = [NO_THP] if settings.get("MPG_MODE") == "thp" else []
        return get_outcome(
            options.command,
            drop=[re.escape(folder), *chance, *options.drop],
            folder=folder,
            environment={**without_settings(), **settings},
            seconds=options.seconds,
        )


def run_preloaded(settings: str, witness: str, options: argparse.Namespace) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        seen = os.path.join(folder, "seen")
        environment = dict(word.split("=", 1) for word in settings.split())
        preload = [*options.front, options.libmpg, *options.behind, witness]
        environment["LD_PRELOAD"] = " ".join(preload)
        environment["HEAP_WITNESS"] = seen
        result = run(environment, options)
        lines = read(seen).decode().splitlines() if os.path.exists(seen) else []
        return Run(result, lines)


def check_witness(seen: list[str], settings: str, options: argparse.Namespace) -> str:
    """The witness's word on all programs."""
    by_mode = "thp" if "MPG_MODE=thp" in settings.split() else "hugetlb"
    wanted = options.heap or by_mode
    for line in seen:
        # A program that has forked ends on other pages.
        may_have_left = wanted == "hugetlb" and line.startswith("end ")
        if line.split()[1] != wanted and not may_have_left:
            raise Differs(f"the witness says: {line}")
    starts = sum(line.startswith("start ") for line in seen)
    if starts < options.programs:
        raise Differs(f"only {starts} programs had libmpg and the witness")
    return f"{starts} programs on {wanted}"


def build_witness(folder: str) -> str:
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap_witness.c")
    library = os.path.join(folder, "witness.so")
    output(["gcc", "-O1", "-shared", "-fPIC", source, "-o", library])
    return library


def check(witness: str, options: argparse.Namespace) -> None:
    rounds = ["", *options.settings]
    with ThreadPoolExecutor(len(rounds) + 1 if options.together else 1) as pool:
        first = pool.submit(run, {}, options)
        others = [pool.submit(run_preloaded, settings, witness, options) for settings in rounds]
    plain = first.result()
    print(f"plain: status {plain.status}, {len(plain.out)} bytes of output, "
          f"{len(plain.files)} files")
    check_plain(plain, options.ends_by)
    for settings, other in zip(rounds, others):
        name = settings or "by default"
        try:
            compare(plain, other.result().result)
            found = check_witness(other.result().seen, settings, options)
        except Differs as reason:
            raise Differs(f"{name}: {reason}") from reason
        print(f"{name}: {found}")


def main() -> int:
    options = parse(__doc__, "libmpg", "command...", ends_by=0, programs=1, front=[], behind=[],
                    drop=[], seconds=600.0, together=False,
                    heap={"choices": ["hugetlb", "thp", "normal"]},
                    **{"with": {"dest": "settings", "action": "append", "default": []}})
    with tempfile.TemporaryDirectory() as folder:
        return report(lambda: check(build_witness(folder), options))


sys.exit(main())
