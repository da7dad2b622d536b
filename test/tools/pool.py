# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One pool of large pages for all tests that run at the same moment.

    pool.py [--alone] COMMAND...

Most tests take some pages and give them back: as many run as there are slots of
PAGES_EACH in the pool. A test that empties the pool, or counts what is free, has
it alone: it waits until the others have ended, and the next ones wait for it.
This holds between all processes of a user on the machine, so between several
runs of lit, too. The exit status is the command's, or 128 and its signal.
"""

import contextlib
import fcntl
import os
import subprocess
import sys
import tempfile
import time
from typing import Iterator, List, Optional, TextIO

POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
# The largest test's need: 320 MiB of .data and .bss, and a copy in part.
PAGES_EACH = 340


def _slots() -> int:
    try:
        with open(POOL, encoding="ascii") as file:
            return max(1, int(file.read()) // PAGES_EACH)
    except OSError:
        return 1


def _lock(name: str, how: int) -> Optional[TextIO]:
    """Holds the lock until it is closed; none if it is not free and how says LOCK_NB."""
    path = os.path.join(tempfile.gettempdir(), f"mpgtools-{os.getuid()}-{name}.lock")
    try:
        file = open(path, "w", encoding="ascii")
    except PermissionError:  # the machine's root has made it, we are a container's
        file = open(path, encoding="ascii")
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        file.close()
        return None
    return file


def _free_slot() -> TextIO:
    while True:
        for slot in range(_slots()):
            file = _lock(f"pool-{slot}", fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file:
                return file
        time.sleep(0.05)


@contextlib.contextmanager
def share(alone: bool = False) -> Iterator[None]:
    """A slot of the pool, or all of it, is this process's until the block ends."""
    held: List[TextIO] = []
    # Who wants all of it closes the gate: else newcomers would keep it waiting.
    gate = _lock("gate", fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    try:
        if alone:
            held = [_lock(f"pool-{slot}", fcntl.LOCK_EX) for slot in range(_slots())]
        else:
            held = [_free_slot()]
            gate.close()
        yield
    finally:
        for file in held + [gate]:
            file.close()


def main() -> int:
    arguments = sys.argv[1:]
    alone = arguments[:1] == ["--alone"]
    with share(alone):
        status = subprocess.run(arguments[alone:], check=False).returncode
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
