"""Programs that have gone wrong under an allocator, in each mode of libmpg and in a short pool.

    each_mode.py MPGRUN FOLDER

FOLDER has the programs. Each runs plain and in each mode, and has to give the same status and
output, and take no more memory than its table says. A second table has messages of mpgrun. Prints
a line for each deviation, and `as plain: N of N, as expected: N of N`.
"""

import os
import re
import resource
import subprocess
import sys
from typing import List, NamedTuple, Optional

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../lib"))
from mpgtest.cgroups import Group, Hierarchy  # noqa: E402

MODES = ("none", "thp", "auto", "hugetlb", "short")
SHORT_PAGES = 4
MIB = 1 << 20
# Lines of mpgrun and libmpg; all others on standard error are the program's or the loader's.
OURS = re.compile(r"^mpg(run)?: .*\n", re.MULTILINE)


class Case(NamedTuple):
    """A program, and how many MiB more than plain it may take by mode."""

    command: List[str]
    more: Optional[dict] = None
    options: List[str] = []
    before: List[str] = []  # in front of mpgrun
    said: Optional[dict] = None  # by mode: status and message of mpgrun


# The start's pages; of the pool, two of the stack, one of the heap, and those of the program.
FEW = {"none": 2, "thp": 24, "auto": 28, "short": 28}
TRIMMED = {"none": 2, "thp": 10, "auto": 16, "short": 10 + 2 * SHORT_PAGES}
USER = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]
LOCKS = ["prlimit", "--memlock=8388608", *USER]

CASES = [
    Case(["./sparse", "check"], FEW),
    Case(["./patched"]),
    Case(["./each", "forks"]),
    Case(["./threads", "stack"]),
    Case(["./each", "trim", "1000", "2000"], TRIMMED),
    Case(["./each", "trim", "20000", "200"], TRIMMED),
    Case(["./results"]),
    Case(["chroot", "root", "/bin/true"]),
    Case(["sh", "-c", "./static stack; echo $?"]),
    *(Case(["./locks", what], before=LOCKS) for what in ("current", "future", "thread")),
]

SPLIT = (124, "on normal pages: a fork: the kernel splits")
LEFT = (124, "on normal pages: the program has forked")
FORK = (124, f"{SPLIT[1]}|{LEFT[1]}")
FORKED = {"none": (0, ""), "thp": SPLIT, "auto": FORK, "hugetlb": LEFT, "short": SPLIT}
SHARED = (0, r"heap .* 64 MiB .* 4 threads")
PROFILED = {
    "none": (0, r"heap .* 64 MiB .* [234] threads"),
    "thp": SHARED,
    "auto": SHARED,
    "hugetlb": (0, r"heap .* 64 MiB .* 2 MiB of the pool\n"),  # malloc touches it
    "short": SHARED,
}
TOLD = [
    Case(["./each", "forks"], options=["--verify"], said=FORKED),
    Case(["./each", "forks"], options=["--verify"], said=FORKED,
         before=["./limited", "no-ptrace", "--"]),
    Case(["./threads", "stack"], options=["--verify"],
         said={"auto": (0, ""), "hugetlb": (0, "")}),
    Case(["./quarters"], options=["--profile"], said=PROFILED),
]


class Runner:
    """Starts programs in a mode; the pool is short by a group's limit."""

    def __init__(self, mpgrun: str, group: Group) -> None:
        self.mpgrun = mpgrun
        self.group = group

    def run(self, mode: str, case: Case) -> "subprocess.CompletedProcess[str]":
        start = []
        if mode != "plain":
            start = [self.mpgrun, f"--mode={'auto' if mode == 'short' else mode}", *case.options]

        def prepare() -> None:
            resource.setrlimit(resource.RLIMIT_STACK, (32 * MIB, resource.RLIM_INFINITY))
            if mode == "short":
                self.group.enter()

        return subprocess.run(
            [*case.before, *start, *case.command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            preexec_fn=prepare,
            check=False,
        )


def split_memory(output: str) -> "tuple[str, int]":
    """Without the last line if that is the memory, and that; 0 if it is not."""
    found = re.search(r"^(\d+) MiB\n\Z", output, re.MULTILINE)
    return (output[: found.start()], int(found.group(1))) if found else (output, 0)


def compare(runner: Runner, case: Case) -> int:
    """Prints what differs; returns how often."""
    plain = runner.run("plain", case)
    expected, plain_mib = split_memory(plain.stdout)
    wrong = 0
    for mode in MODES:
        got = runner.run(mode, case)
        output, mib = split_memory(got.stdout)
        said = OURS.sub("", got.stderr)
        is_same = (got.returncode, output, said) == (plain.returncode, expected, plain.stderr)
        more = (case.more or {}).get(mode)
        if not is_same or (more is not None and mib > plain_mib + more):
            wrong += 1
            print(f"{mode}: {case.command}: {got}, plain {plain}")
    return wrong


def check_said(runner: Runner, case: Case) -> int:
    """Prints where mpgrun says something else; returns how often."""
    wrong = 0
    for mode, (status, pattern) in (case.said or {}).items():
        got = runner.run(mode, case)
        if got.returncode != status or not re.search(pattern, got.stderr):
            wrong += 1
            print(f"{mode}: {got}, not {status} and '{pattern}'")
    return wrong


def main(mpgrun: str, folder: str) -> int:
    os.chdir(folder)
    with Hierarchy() as hierarchy, hierarchy.group() as group:
        group.limit(None, SHORT_PAGES)
        runner = Runner(mpgrun, group)
        wrong = sum(compare(runner, case) for case in CASES)
        untrue = sum(check_said(runner, case) for case in TOLD)
    count, told = len(CASES) * len(MODES), sum(len(case.said or {}) for case in TOLD)
    print(f"as plain: {count - wrong} of {count}, as expected: {told - untrue} of {told}")
    return wrong + untrue != 0


sys.exit(main(*sys.argv[1:]))
