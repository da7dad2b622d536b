#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""text-symbols.py MODE LIBMPG PROGRAM: do tools see the code of PROGRAM, which is
text-symbols.cpp, by its symbols with MPG_TEXT=MODE? Prints what does not hold."""

import os
import re
import subprocess
import sys

mode, library, program = sys.argv[1:4]
settings = {"LD_PRELOAD": library, "MPG_TEXT": mode, "MPG_MODE": "thp"}
gdb = ["gdb", "-q", "-batch", "-nx", "-ex", "set startup-with-shell off",
       *(word for name in settings for word in ("-ex", f"set environment {name} {settings[name]}"))]
faults = []


def run(*words, given=None):
    done = subprocess.run(words, env={**os.environ, **(given or {})}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    return done.stdout


def check(what, text, *patterns):
    """The patterns are in the text, in this order."""
    if not re.search(".*".join(patterns), text, re.DOTALL):
        faults.append(f"{what}: {patterns} is not in: {text}")


plain = run(program, given=settings)
check("run", plain, "thrown and caught", "backtrace: main", "place: 0x")
large = int(re.search(r"large: (\d+) KiB", plain)[1])
if large < 2048 and f"MPG_TEXT={mode}: " not in plain:
    faults.append(f"run: {large} KiB are on large pages, and nothing says why")
place = re.search("place: (0x[0-9a-f]+)", plain)[1]
check("addr2line", run("addr2line", "-f", "-e", program, place), r"\bmain\n[^\n]*:[0-9]+\n")

# One breakpoint from before libmpg, whose 2 MiB then stay as they are, and one from later.
check("breakpoints",
      run(*gdb, "-ex", "break stopHere", "-ex", "run", "-ex", "break printLarge", "-ex",
          "continue", "-ex", "backtrace", "-ex", "continue", program),
      f"MPG_TEXT={mode}: [^\n]* stay on normal pages", "Breakpoint 1, stopHere",
      "Breakpoint 2, [^\n]*printLarge", r"#1 [^\n]* in main", "thrown and caught\nbacktrace: main")

core = program + ".core"
check("core file, written", run(*gdb, "-ex", "run", "-ex", f"generate-core-file {core}",
                                "--args", program, "abort"), "SIGABRT", "Saved corefile")
check("core file, read", run("gdb", "-q", "-batch", "-nx", "-ex", "backtrace", program, core),
      r"in main [^\n]*text-symbols\.cpp")

data = program + ".perf"
run("perf", "record", "-q", "-e", "task-clock:u", "-o", data, program, "spin", given=settings)
check("perf", run("perf", "report", "-q", "--stdio", "-F", "overhead,sym", "-i", data),
      r"\d\d\.\d+%  \[\.\] spinHere\b")
sys.exit("\n".join(faults) or 0)
