# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command in a new control group of memory or pids (needs root).

    cgroup.py memory BYTES COMMAND...       no more memory than that, no swap
    cgroup.py pids COUNT COMMAND...
    cgroup.py memory|pids --probe

v1 or v2, whichever has the controller. The exit status is the command's, or 128
and its signal; 125 without the controller, --probe asks for that alone.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from typing import Iterator, Optional, Tuple

FILES = {
    ("memory", False): "memory.limit_in_bytes",
    ("memory", True): "memory.max",
    ("pids", False): "pids.max",
    ("pids", True): "pids.max",
}
NO_SWAP = {False: ("memory.swappiness", "0"), True: ("memory.swap.max", "0")}


def find(controller: str) -> Optional[Tuple[str, bool]]:
    """The mount with the controller, and whether it is v2."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    for words in mounts:
        kind, options = words[words.index("-") + 1], words[-1].split(",")
        if kind == "cgroup" and controller in options:
            return words[4], False
    for words in mounts:
        control = os.path.join(words[4], "cgroup.subtree_control")
        if words[words.index("-") + 1] == "cgroup2":
            with open(control, encoding="ascii") as file:
                if controller in file.read().split():
                    return words[4], True
    return None


def remove(path: str) -> None:
    deadline = time.monotonic() + 5
    while True:  # what the command left behind may be about to end
        try:
            return os.rmdir(path)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextlib.contextmanager
def group(controller: str, limit: int) -> Iterator[str]:
    """A group with that limit, as the path of its list of processes."""
    found = find(controller)
    if not found:
        raise OSError(f"no control groups for {controller} on this machine")
    root, is_v2 = found
    path = tempfile.mkdtemp(prefix="mpg-test-", dir=root)
    try:
        values = [(FILES[controller, is_v2], str(limit))]
        if controller == "memory":
            values.append(NO_SWAP[is_v2])
        for name, value in values:
            with open(os.path.join(path, name), "w", encoding="ascii") as file:
                file.write(value)
        yield os.path.join(path, "cgroup.procs")
    finally:
        remove(path)


def enter(processes: str) -> None:
    with open(processes, "w", encoding="ascii") as file:
        file.write(str(os.getpid()))


def main() -> int:
    controller, limit, *command = sys.argv[1:]
    try:
        with group(controller, 1 << 30 if limit == "--probe" else int(limit)) as processes:
            if limit == "--probe":
                return 0
            status = subprocess.run(
                command, preexec_fn=lambda: enter(processes), check=False).returncode
    except OSError as error:
        print(f"cgroup.py: {error}", file=sys.stderr)
        return 125
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
