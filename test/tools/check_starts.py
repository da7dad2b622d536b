#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does mpgaudit see ./app behind each way to start it, or report that it does not?

usage: check_starts.py FILE MPGAUDIT

FILE has one way a line, after what is expected: seen, lower, unknown or both. Run it
where ./app is a program that fails a check (MPG110) for --target=fugaku. Prints
a line for each difference, then how many ways were tried and how many of them
were silent: neither the program nor a word, and status 0.
"""

import subprocess
import sys
from pathlib import Path


def outcome(mpgaudit, way):
    """mpgaudit's answer for \\p way."""
    text = "#!/bin/bash\n" + way.replace("\\n", "\n") + "\n"
    run = subprocess.run(
        [mpgaudit, "--no-config", "--no-closure", "--target=fugaku", "--expect-libmpg",
         "--checks=MPG110,MPG238,MPG239", "--fail-on=never", "--format=line", "--job=/dev/stdin"],
        input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=600, check=False)
    lines = run.stdout.decode(errors="replace").splitlines()
    of_app = [line for line in lines if line.partition(":")[0].endswith("app")]
    if any(": error: MPG110" in line for line in of_app):
        return "seen", lines
    unknown = run.returncode == 3 and any("not understood" in line for line in lines)
    if any(": warning: MPG110" in line for line in of_app):
        return "both" if unknown else "lower", lines
    if unknown:
        return "unknown", lines
    return "note" if lines else "silent", lines


def main():
    file, mpgaudit = sys.argv[1:]
    total = silent = different = 0
    for line in Path(file).read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        expected, _, way = line.partition(" ")
        way = way.strip()
        found, output = outcome(mpgaudit, way)
        total += 1
        silent += found in ("silent", "note")
        if found != expected:
            different += 1
            print(f"{way}: {found}; expected: {expected}", *output, sep="\n    ")
    print(f"{total} ways: {silent} silent, {different} different")
    return 0


sys.exit(main())
