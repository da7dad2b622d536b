# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attach.py MPGRUN PROGRAM: runs PROGRAM under mpgrun and attaches gdb to it."""

import subprocess
import sys

LOOK = [
    "thread apply all -ascending bt",
    "print filled[1048575]",
    "print cleared[9437184]",
    "thread apply all bt",
]


def main() -> None:
    mpgrun, program = sys.argv[1:]
    with subprocess.Popen(
        [mpgrun, "--mode=hugetlb", program, "wait"], stdout=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"waiting\n"
        commands = [word for line in LOOK for word in ("-ex", line)]
        try:
            subprocess.run(
                ["gdb", "-q", "-batch", "-p", str(running.pid), *commands],
                timeout=600,
                check=True,
            )
        finally:
            running.kill()


main()
