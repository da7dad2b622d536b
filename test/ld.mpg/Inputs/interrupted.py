# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs COMMAND in the empty folder FOLDER and interrupts it as soon as it writes there. Fails if
FOLDER then holds anything except a whole `program`, or if that changes later."""
import os
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
# A shell's background jobs ignore interrupts.
for ignored in (signal.SIGINT, signal.SIGHUP):
    signal.signal(ignored, signal.SIG_DFL)


def is_writing():
    """lld's signal handler knows its file before the file has a size."""
    try:
        return any(entry.stat().st_size for entry in os.scandir(folder))
    except FileNotFoundError:
        return False


def interrupted(send, number):
    process = subprocess.Popen(command, start_new_session=True)
    while not is_writing() and process.poll() is None:
        time.sleep(0.001)
    send(process.pid, number)
    status = process.wait()
    left = os.listdir(folder)
    time.sleep(0.2)
    good = set(left) <= {"program"} and os.listdir(folder) == left
    if not good or status not in (0, -number):
        print("signal", number, "status", status, "left", left)
        good = False
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return good


good = [
    interrupted(send, number)
    for send, number in (
        (os.kill, signal.SIGTERM),
        (os.kill, signal.SIGINT),
        (os.killpg, signal.SIGINT),
        (os.killpg, signal.SIGHUP),
    )
    for _ in range(4)
]
sys.exit(not all(good))
