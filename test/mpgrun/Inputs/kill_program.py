# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kill_program.py MPGRUN PROGRAM: kills PROGRAM when it says that it is ready."""

import os
import signal
import subprocess
import sys

child = subprocess.Popen([sys.argv[1], "--report", sys.argv[2], "wait"],
                         stdout=subprocess.PIPE, text=True)
child.stdout.readline()
with open(f"/proc/{child.pid}/task/{child.pid}/children",
          encoding="ascii") as file:
    os.kill(int(file.read().split()[0]), signal.SIGKILL)
sys.exit(child.wait() != -signal.SIGKILL)
