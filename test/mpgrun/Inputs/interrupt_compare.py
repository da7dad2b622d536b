# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt_compare.py MPGRUN: sends signals to mpgrun --compare while it runs a program that
ignores SIGTERM, and checks what is left of it. Expects ./compared."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
from processes import is_running, wait_for  # noqa: E402


def has_both_numbers() -> bool:
    return os.path.exists("pids") and open("pids", encoding="ascii").read()[-1:] == "\n"


for number in (signal.SIGINT, signal.SIGTERM):
    if os.path.exists("pids"):
        os.unlink("pids")
    child = subprocess.Popen(
        [sys.argv[1], "--compare=none,thp", "--", "./compared", "wait", "pids"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    wait_for(has_both_numbers)
    with open("pids", encoding="ascii") as file:
        pids = [int(word) for word in file.read().split()]
    child.send_signal(number)
    report = child.communicate(timeout=600)[0]
    gone = wait_for(lambda: not any(map(is_running, pids)))
    print(f"{number.name[3:]}: status {child.returncode}, "
          f"{'none' if gone else 'some'} of {len(pids)} processes is left, "
          f"{'a' if report else 'no'} report")
