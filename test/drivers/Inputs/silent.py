#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""silent.py FILE COMMAND...: do the steps without a link say nothing?

Runs COMMAND with each option below, -Werror and FILE. Exit status 1, and what
was printed, if a step fails or writes to standard error.
"""

import subprocess
import sys

STEPS = ["-c", "-S", "-E", "-fsyntax-only"]

for step in STEPS:
    command = sys.argv[2:] + ["-Werror", step, sys.argv[1]]
    if step in ("-c", "-S"):
        command += ["-o", "silent.out"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or done.stderr:
        print(f"{' '.join(command)}\n{done.stderr}status {done.returncode}")
        sys.exit(1)
print(f"silent: {len(STEPS)} steps")
