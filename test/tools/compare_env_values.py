#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do mpgaudit and libmpg accept the same values of the same variables?

Starts a program with libmpg preloaded once for every variable of env.def and every value of a list,
and searches standard error for "is not valid"; then audits one script that exports the same. Prints
one line per difference and a count. Exit status 0 when there is none.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mpgtest.options import parse
from mpgtest.run import finish

VALUES = ["", "0", "1", "2", "3", "7", "on", "ON", "off", "TRUE", "true",
          "FALSE", "none", "hugetlbfs", "Hugetlbfs", "base", "base+stack",
          "2M", "32M", "2m", "demand", "demand:demand", "demand:demand:demand",
          "prepage:demand:prepage", "demand:demand:demand:demand",
          "demand:demand:", ":demand:demand", "demand:demand:prepage ",
          "204800", "0x32000", "0X10", "0x", "0xg", "-1", "+1", " 1", "1 ",
          "200K", "2147483647", "2147483648", "18446744073709551615",
          "18446744073709551616", "17592186044415", "17592186044416",
          "14,0", "10,4", "15,0", "10,4,0", "10", "10,", "a,b", "touch",
          "mbind", "auto", "thp", "exe", "all", "5", "8:31", "8:", ":"]
# Set by mpgrun: a wrong value cannot come from a user's script.
INTERNAL = {"MPG_TARGET", "MPG_STATE_FD", "MPG_STATE_PID", "MPG_TEST_COPY_BACK"}


def names(table):
    text = table.read_text(encoding="ascii")
    found = re.findall(r"^MPG_ENV\((\w+),", text, re.MULTILINE)
    return [name for name in found if name not in INTERNAL]


def refused_by_library(libmpg, program, name, value):
    environment = {name: value, "LD_PRELOAD": libmpg, "PATH": os.environ["PATH"]}
    run = subprocess.run([program], env=environment, capture_output=True, timeout=600)
    return b"is not valid" in run.stderr


def refused_by_mpgaudit(mpgaudit, pairs):
    """The set of pairs for which the audit of one script reports MPG221."""
    lines = [f"export {name}='{value}'" for name, value in pairs]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run.sh"
        script.write_text("\n".join(lines) + "\n./a.out\n", encoding="ascii")
        run = subprocess.run(
            [mpgaudit, "--format=line", "--fail-on=never", "--no-config",
             "--checks=MPG221", "--target=mpg", f"--job={script}"],
            capture_output=True, text=True, timeout=600)
    found = re.findall(r":(\d+): \w+: MPG221", run.stdout)
    return {pairs[int(number) - 1] for number in found}


def main():
    args = parse(__doc__, "mpgaudit", "libmpg", "table", program="/bin/true")
    pairs = [(name, value) for name in names(Path(args.table)) for value in VALUES]
    audited = set()
    for start in range(0, len(pairs), 40):  # it prints 50 of one number
        audited |= refused_by_mpgaudit(args.mpgaudit, pairs[start:start + 40])
    differences = []
    for pair in pairs:
        library = refused_by_library(args.libmpg, args.program, *pair)
        if library != (pair in audited):
            differences.append("{}='{}': libmpg {}, mpgaudit {}".format(
                *pair, "refuses" if library else "takes",
                "refuses" if pair in audited else "takes"))
    return finish(differences, f"{len(pairs)} values, {len(audited)} refused, {{}} differences")


sys.exit(main())
