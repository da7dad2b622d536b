# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes as tests watch them in /proc."""

import time
from typing import Callable, List


def state(pid: int) -> str:
    """One letter, as in /proc/PID/stat."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def is_running(pid: int) -> bool:
    try:
        return state(pid) not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> List[int]:
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def wait_for(condition: Callable[[], bool]) -> bool:
    """False if it was not so within a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
