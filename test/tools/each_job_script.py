#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What does mpgaudit say of each of many small job scripts?

usage: each_job_script.py FILE MPGAUDIT [OPTION]...

FILE holds scripts, each after a line "#? STATUS [PATTERN]", the exit status expected of
"mpgaudit OPTION... --format=line --job=job.sh" in the current folder, and a regular
expression that a line of the output must have. Further "#?" lines are more of these;
behind "#? no" is one that it must not have. @HERE@ in a script is the
current folder, by a path without blanks. Lines in front of the first "#?" are comments.

Prints one line per difference, then a count. Exit status 0 when there is none.
"""

import re
import subprocess
import sys
from pathlib import Path

from one_word import one_word

from mpgtest.run import finish


def blocks(text):
    """Pairs of the lines of expectation and the text of the script."""
    parts = re.split(r"^((?:#\?.*\n)+)", text, flags=re.MULTILINE)
    for head, body in zip(parts[1::2], parts[2::2]):
        status, *patterns = [line[2:].strip() for line in head.splitlines()]
        yield status.split(maxsplit=1) + patterns, body.strip("\n") + "\n"


def differences(expected, output, status):
    if str(status) != expected[0]:
        yield f"status {status} instead of {expected[0]}"
    for pattern in expected[1:]:
        unwanted = pattern.startswith("no ")
        found = re.search(pattern[3:] if unwanted else pattern, output, re.MULTILINE)
        if bool(found) == unwanted:
            yield ("unwanted: " if unwanted else "missing: ") + pattern


def main():
    file, *command = sys.argv[1:]
    count, wrong = 0, []
    for expected, script in blocks(Path(file).read_text(encoding="utf-8")):
        script = script.replace("@HERE@", one_word(str(Path.cwd())))
        Path("job.sh").write_text(script, encoding="utf-8")
        run = subprocess.run([*command, "--format=line", "--job=job.sh"], timeout=600,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, check=False)
        output = run.stdout.decode(errors="replace")
        count += 1
        wrong += [f"{line}\n--- script\n{script}--- output\n{output}"
                  for line in differences(expected, output, run.returncode)]
    return finish(wrong, f"{count} scripts, {{}} differences")


sys.exit(main())
