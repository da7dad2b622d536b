# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""send_signals.py MPGRUN: signals to mpgrun and what becomes of the program."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
from processes import state, wait_for  # noqa: E402

# Tells its process id, then what it gets; TERM ends it with status 42. By write:
# a handler must not print in the middle of another print.
PROGRAM = """
import os, signal, time
def told(number, frame):
    os.write(1, b"got %d\\n" % number)
    if number == signal.SIGTERM:
        os._exit(42)
signal.signal(signal.SIGTERM, told)
signal.signal(signal.SIGINT, told)
os.write(1, b"%d\\n" % os.getpid())
while True:
    time.sleep(0.05)
"""


def start() -> tuple[subprocess.Popen, int]:
    child = subprocess.Popen(
        [sys.argv[1], "--report", sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True)
    return child, int(child.stdout.readline())


child, pid = start()
child.send_signal(signal.SIGTERM)
lines = child.stdout.read().split("\n")
got = "got it" if f"got {int(signal.SIGTERM)}" in lines else "did not get it"
print(f"TERM to mpgrun alone: program {got}, mpgrun ended with {child.wait()}")

# Like a terminal on Ctrl-C, send a signal to each member of the group. A process cannot send one
# that looks like a terminal's, so skip mpgrun.
child, pid = start()
os.kill(pid, signal.SIGINT)
time.sleep(0.3)
child.send_signal(signal.SIGTERM)
count = child.stdout.read().count(f"got {int(signal.SIGINT)}\n")
print(f"INT to the group: program got it {count} times")
child.wait()

child, pid = start()
os.kill(pid, signal.SIGSTOP)
stopped = wait_for(lambda: state(pid) in "tT")
os.kill(pid, signal.SIGCONT)
runs = wait_for(lambda: state(pid) in "SR")
child.send_signal(signal.SIGTERM)
ended = child.wait() == 42
print("STOP and CONT: " + ("stopped" if stopped else "not stopped") + ", "
      + ("runs again" if runs and ended else "does not run again"))

child, pid = start()
child.kill()
child.wait()
time.sleep(0.2)
print("KILL to mpgrun: program " + ("runs on" if os.path.exists(f"/proc/{pid}") else "is gone"))
os.kill(pid, signal.SIGKILL)
