#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does mpgaudit say of each script in a folder what is expected of it?

The folder has a file expected.txt with one line for each expected finding, "SCRIPT:LINE: SEVERITY:
ID", and one line "SCRIPT: clean" for each script without any at warning or above. Ignores MPG238:
it reports what is unknown on the machine of the test, such as the programs.

Prints one line per difference, then a count. Exit status 0 when there is none, 1 when there are
some. --write prints the expected.txt that would match.
"""

import re
import subprocess
import sys
from pathlib import Path

from mpgtest.options import parse
from mpgtest.run import finish

FINDING = re.compile(r"^([^:]+):(\d+): (note|warning|error): (MPG\d+)")
LEFT_OUT = {"MPG238"}


def verdict(mpgaudit, folder, script):
    """The findings of one script, and what else was printed."""
    command = [mpgaudit, "--format=line", "--fail-on=never", "--no-config", "--no-closure",
               f"--job={script}"]
    run = subprocess.run(command, cwd=folder, capture_output=True, timeout=600)
    lines, others = [], run.stderr.decode(errors="replace").splitlines()
    if run.returncode != 0:
        others.append(f"status {run.returncode}")
    for line in run.stdout.decode(errors="replace").splitlines():
        found = FINDING.match(line)
        if found and found.group(1) != script or line.startswith("/"):
            continue  # of a program that is on this machine
        if line.startswith(f"{script}: verdict: "):
            continue  # job-verdict.test
        if not found:
            others.append(line)
        elif found.group(4) not in LEFT_OUT:
            lines.append("{}:{}: {}: {}".format(*found.groups()))
    if not any(": note:" not in line for line in lines):
        lines.append(f"{script}: clean")
    return lines, others


def main():
    args = parse(__doc__, "mpgaudit", "folder", write=False)
    folder = Path(args.folder)
    scripts = sorted(path.name for path in folder.iterdir()
                     if path.is_file() and path.name != "expected.txt")
    found, faults = [], []
    for script in scripts:
        lines, others = verdict(args.mpgaudit, folder, script)
        found += lines
        faults += [f"{script}: not expected: {line}" for line in others]
    if args.write:
        print("\n".join(found))
        return 0
    expected = (folder / "expected.txt").read_text(encoding="ascii").splitlines()
    faults += [f"missing:      {line}" for line in expected if line not in found]
    faults += [f"not expected: {line}" for line in found if line not in expected]
    clean = sum(line.endswith(": clean") for line in found)
    return finish(faults, f"{len(scripts)} scripts, {clean} of them clean, {{}} differences")


sys.exit(main())
