#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do `mpgaudit --recommend` and the report say the same of every job script?

usage: recommend_agrees.py MPGAUDIT FOLDER

FOLDER is test/job-scripts. Audits its scripts, and those of found/scripts.txt, in the current
folder, where their programs are. Then adds the export lines of --recommend after the directives,
and audits again. If a script sets the same variables later, the advice reports that, and the last
three do not count:

  * on x86-64 the answer has at most five lines a program,
  * no new warning and no new error,
  * a problem that a variable repairs (MPG225) is gone,
  * --recommend asks for nothing more.

Prints a line for each difference, then a count. Exit status 0 when there is none.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import List

from found_job_scripts import scripts

from mpgtest.run import finish

MENDED = {"MPG225"}


def run(mpgaudit: str, script: str, *options: str) -> str:
    Path("job.sh").write_text(script, "utf-8")
    done = subprocess.run([mpgaudit, "--no-config", "--fail-on=never", *options,
                           "--job=job.sh"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=600, check=False)
    return done.stdout.decode(errors="replace")


def blamed(mpgaudit: str, script: str) -> set:
    """The numbers of errors and warnings about the script."""
    lines = run(mpgaudit, script, "--format=line")
    return set(re.findall(r"^job\.sh:\d+: (?:warning|error): (MPG\d+)", lines, re.MULTILINE))


def pasted(script: str, exports: List[str]) -> str:
    """`script` with the lines after the comments that it begins with."""
    lines = script.splitlines()
    first = next((i for i, line in enumerate(lines)
                  if line.strip() and not line.startswith("#")), len(lines))
    return "\n".join(lines[:first] + exports + lines[first:]) + "\n"


def differences(mpgaudit: str, script: str):
    advice = run(mpgaudit, script, "--recommend")
    for block in re.split(r"^(?=# \S+: )", advice, flags=re.MULTILINE):
        if "target mpg" in block and block.count("\n") > 5:
            yield f"{block.count(chr(10))} lines of advice"
    exports = [line for line in advice.splitlines() if line.startswith("export ")]
    changed = pasted(script, list(dict.fromkeys(exports)))
    again = run(mpgaudit, changed, "--recommend")
    if "in the way:" in again.lower():
        return
    after = blamed(mpgaudit, changed)
    for number in sorted(after - blamed(mpgaudit, script)):
        yield f"{number} comes with the advice"
    for number in sorted(after & MENDED):
        yield f"{number} stays"
    lines = again.splitlines()
    for i, line in enumerate(lines):
        known = "sets it already" in " ".join(lines[max(0, i - 3):i])
        if line.startswith("export ") and not known:
            yield f"asks again: {line}"


def main() -> int:
    mpgaudit, folder = sys.argv[1], Path(sys.argv[2])
    texts = [(path.name, path.read_text("utf-8", errors="surrogateescape"))
             for path in sorted(folder.iterdir())
             if path.is_file() and path.name != "expected.txt"]
    texts = [(name, text) for name, text in texts
             if "csh" not in text.split("\n", 1)[0] and "\r" not in text]
    for _, text in scripts((folder / "found/scripts.txt").read_text("utf-8")):
        texts.append((text.split("\n", 1)[0],
                      "#!/bin/bash\n" + text.replace("@HERE@", str(Path.cwd()))))
    found = [f"{name}: {line}" for name, text in texts for line in differences(mpgaudit, text)]
    return finish(found, f"{len(texts)} scripts, {{}} differences")


sys.exit(main())
