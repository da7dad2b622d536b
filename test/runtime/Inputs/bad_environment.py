# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bad_environment.py LIBMPG ENV_DEF PROGRAM: every variable, every bad value.

Runs PROGRAM, preloaded with LIBMPG, once for each pair. Its own result must be
right each time, and standard error must hold one line that names the variable
and the default. Prints the number of runs; exit status 1 after any failure.
"""

import re
import subprocess
import sys

VALUES = (
    b"",
    b" ",
    b"PREPAGE",
    b" 1",
    b"1 ",
    b"-1",
    b"1" + 30 * b"0",
    10240 * b"x",
    b"demand:demand",
    b"\xff\n\x1b[31m",
)


def main() -> int:
    library, table, program = sys.argv[1:]
    with open(table, encoding="ascii") as file:
        names = re.findall(r"^MPG_ENV\((\w+)", file.read(), re.MULTILINE)
    failures = 0
    for name in names:
        for value in VALUES:
            environment = {b"LD_PRELOAD": library.encode(), name.encode(): value}
            run = subprocess.run([program], env=environment, capture_output=True)
            lines = run.stderr.decode("ascii", "replace").split("\n")[:-1]
            right = run.returncode == 3 and run.stdout == b"result 42\n"
            told = len(lines) == 1 and lines[0].startswith(f"mpg: {name}='")
            if not right or not told or "�" in lines[0] or "\x1b" in lines[0]:
                failures += 1
                print(name, value[:40], run.returncode, run.stdout, lines)
    print(f"{len(names) * len(VALUES)} runs, {failures} failures")
    return 1 if failures or not names else 0


sys.exit(main())
