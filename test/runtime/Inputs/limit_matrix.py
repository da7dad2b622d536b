"""Programs under limits: what works without libmpg works with it.

    limit_matrix.py PROGRAM LIBMPG [MODE...]

For each kind of work and each limit, set by the parent or by the program itself, finds the smallest
limit with which the plain program succeeds, and runs it with libmpg and 5 % more, of memory at
least 12 MiB: libmpg's tables, and the rounding to large pages. Prints a line for each difference
and `same N` at the end.
"""

import os
import resource
import subprocess
import sys
from typing import List, Optional, Tuple

MIB = 1 << 20
GIB = 1 << 30
WORKS = ("blocks", "one", "ended", "static", "deep", "fork", "files")
# Limit, the most that is tried, how exactly the least one is looked for, and what
# is added to it at least.
LIMITS = (
    ("AS", resource.RLIMIT_AS, GIB // 4, MIB, 12 * MIB),
    ("DATA", resource.RLIMIT_DATA, GIB // 4, MIB, 12 * MIB),
    ("STACK", resource.RLIMIT_STACK, 32 * MIB, MIB, 0),
    ("FSIZE", resource.RLIMIT_FSIZE, 16, 1, 0),
    ("NOFILE", resource.RLIMIT_NOFILE, 64, 1, 0),
)
Result = Tuple[int, bytes]


class Case:
    """One kind of work under one limit."""

    def __init__(self, program: str, work: str, number: int, itself: bool) -> None:
        self.command = [program, work]
        self.number = number
        self.itself = itself

    def run(self, bytes_: int, environment: Optional[dict] = None) -> Result:
        command = list(self.command)

        def limit() -> None:
            # Enough to begin with, for those who change it themselves.
            resource.setrlimit(resource.RLIMIT_STACK, (8 * MIB, -1))
            if not self.itself:
                hard = resource.getrlimit(self.number)[1]
                resource.setrlimit(self.number, (bytes_, hard))

        if self.itself:
            command += [str(int(self.number)), str(bytes_)]
        done = subprocess.run(
            command,
            env=dict(os.environ, **(environment or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
            check=False,
        )
        return done.returncode, done.stdout

    def find_min(self, most: int, step: int) -> Optional[int]:
        """The least limit that the plain program can do with; None: more than the most."""
        if self.run(0)[0] == 0:
            return 0
        if self.run(most)[0] != 0:
            return None
        low, high = 0, most
        while high - low > step:
            middle = (low + high) // 2
            if self.run(middle)[0] == 0:
                high = middle
            else:
                low = middle
        return high


def main(program: str, library: str, modes: List[str]) -> int:
    count = wrong = 0
    for name, number, most, step, extra in LIMITS:
        for work in WORKS:
            for itself in (False, True):
                case = Case(program, work, number, itself)
                least = case.find_min(most, step)
                if least is None:
                    continue
                more = least + max(least // 20, extra)
                plain = case.run(more)
                for mode in modes:
                    count += 1
                    got = case.run(more, {"LD_PRELOAD": library, "MPG_MODE": mode})
                    if got != plain:
                        wrong += 1
                        who = "itself" if itself else "starter"
                        print(f"{name} {more} by {who}, {work}, {mode}: {got}, {plain}")
    print(f"same {count}" if not wrong else f"{wrong} of {count} differ")
    return wrong != 0


sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:] or ["auto"]))
