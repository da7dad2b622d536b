#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does mpgaudit stop or blame a job script that is right, or pass over a part?

usage: found_job_scripts.py FILE MPGAUDIT [--show N]

FILE holds scripts, each after a line "== VERDICT"; lines in front of the first
are comments. Each is audited in the current folder, where the programs are;
@HERE@ in a script is that folder. Verdicts:

  ok             no error and no warning
  says WORD      the same, and a note of MPG220 or MPG237 to MPG239 names WORD,
                 because the started program, or whether it acts, is unknown
  warning ID     this finding and no other warning, no error
  error ID       this finding and no other error; the exit status is 1

Notes do not matter, nor do findings about a program of this machine outside the folder. Prints a
line for each difference, then how many scripts had a wrong error, a wrong warning, or a missed
problem.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

FINDING = re.compile(r"^([^:]+):(?:\d+:)? (note|warning|error): (MPG\d+)[^:]*: (.*)$")


def scripts(text):
    """Verdict and text of each script."""
    parts = re.split(r"^== (.*)\n", text, flags=re.MULTILINE)
    return zip(parts[1::2], parts[2::2])


def audit(mpgaudit, script):
    if not script.startswith("#!"):
        script = "#!/bin/bash\n" + script
    Path("job.sh").write_text(script.replace("@HERE@", str(Path.cwd())), "utf-8")
    # A machine may have one of the programs installed.
    run = subprocess.run([mpgaudit, "--no-config", "--format=line", "--job=job.sh"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=600, check=False,
                         env={**os.environ, "PATH": "/nowhere"})
    output = run.stdout.decode(errors="replace")
    found = [match.groups() for match in map(FINDING.match, output.splitlines()) if match]
    return run.returncode, [one for one in found if not one[0].startswith("/")], output


def faults(verdict, status, found):
    """The kinds of wrong answers: error, warning, passed over."""
    word, _, rest = verdict.partition(" ")
    wanted = rest if word in ("warning", "error") else ""
    for severity in ("error", "warning"):
        numbers = {one[2] for one in found if one[1] == severity}
        if word == severity and wanted not in numbers:
            yield "passed over"
        if numbers - ({wanted} if word == severity else set()):
            yield severity
    if word == "says" and not any(
            one[2] in ("MPG220", "MPG237", "MPG238", "MPG239") and rest in one[3] for one in found):
        yield "passed over"
    if word != "error" and status not in (0, 3):
        yield "error"


def main():
    file, mpgaudit, *show = sys.argv[1:]
    counts = {"error": 0, "warning": 0, "passed over": 0}
    total = 0
    for verdict, script in scripts(Path(file).read_text("utf-8")):
        total += 1
        status, found, output = audit(mpgaudit, script)
        wrong = list(dict.fromkeys(faults(verdict, status, found)))
        for kind in wrong:
            counts[kind] += 1
        if wrong:
            print(f"{script.splitlines()[0]}: {', '.join(wrong)}; expected: {verdict}")
            if show:
                print(f"{script}---\n{output}")
    print(f"{total} scripts: {counts['error']} wrong errors, "
          f"{counts['warning']} wrong warnings, {counts['passed over']} passed over")
    return 0


if __name__ == "__main__":
    sys.exit(main())
