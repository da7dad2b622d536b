# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""kill_program.py [--mpgrun] MPGRUN PROGRAM: kills PROGRAM, or MPGRUN, when PROGRAM prints that it
is ready."""

import os
import signal
import subprocess
import sys

arguments = sys.argv[1:]
kills_mpgrun = arguments[0] == "--mpgrun"
if kills_mpgrun:
    del arguments[0]
child = subprocess.Popen([arguments[0], "--report", arguments[1], "wait"],
                         stdout=subprocess.PIPE, text=True)
child.stdout.readline()
with open(f"/proc/{child.pid}/task/{child.pid}/children", encoding="ascii") as file:
    program = int(file.read().split()[0])
if kills_mpgrun:
    child.kill()
    child.stdout.read()  # ends when nobody is left who could write
    print("both have ended")
else:
    os.kill(program, signal.SIGKILL)
sys.exit(child.wait() != -signal.SIGKILL)
