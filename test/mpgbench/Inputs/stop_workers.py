# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""stop_workers.py COMMAND...: what becomes of a worker that never ends (it is
stopped here) when its mpgbench gets a signal, and of mpgbench when its worker
is killed."""

import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
from processes import children, is_running, wait_for  # noqa: E402


def is_worker(pid: int) -> bool:
    """Once it measures: its first lines, which tie it to mpgbench, have run."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            is_copy = b"\0worker\0" not in file.read()
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not is_copy and pages * os.sysconf("SC_PAGESIZE") > 64 << 20


def stop_worker(bench) -> int:
    worker = 0

    def find() -> bool:
        nonlocal worker
        found = list(filter(is_worker, children(bench.pid)))
        worker = found[0] if found else 0
        return worker != 0

    assert wait_for(find), "no worker"
    os.kill(worker, signal.SIGSTOP)
    return worker


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as bench:
        worker = stop_worker(bench)
        bench.send_signal(number)
        report = bench.communicate(timeout=600)[0]
        gone = wait_for(lambda: not is_running(worker))
        print(f"{number.name[3:]}: status {bench.returncode}, worker "
              f"{'gone' if gone else 'left'}, {'a' if report else 'no'} report")

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True) as bench:
    os.kill(stop_worker(bench), signal.SIGKILL)
    print("worker killed:")
    print(bench.communicate(timeout=600)[0], f"status {bench.returncode}", sep="")
