# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Allocators, and runs of programs with them, for heap.py.

A set-up is a set of environment variables: a library preloaded, a tunable, our
settings. Bench runs a program with each set-up in turn, in an order drawn anew
for each round, so that a busy moment of the machine hits all of them.

The peak of a run is the sum of two figures of the kernel: the largest resident size of the process
(wait4, the VmHWM of /proc; normal and transparent huge pages), and the maximum taken from the pool
at once (a hugetlb control group, test/lib/mpgtest/cgroups.py; resident sizes exclude the pool). The
two moments may differ, so the sum is never too small.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from measuring import REPO, refuse

from mpgtest.cgroups import Hierarchy

PROGRAMS = os.path.join(REPO, "test", "bench", "heap")
POOL = "/sys/kernel/mm/hugepages/hugepages-2048kB"
# The largest run is 20,480 x 64 KiB twice, or 256 blocks of which each takes
# 10 MiB (glibc.malloc.hugetlb=2): 2.5 GiB. The rest is for other processes.
PAGES_NEEDED = 1600
SECONDS_AT_MOST = 120


@dataclass
class Setup:
    name: str
    environment: dict[str, str] = field(default_factory=dict)
    is_ours: bool = False
    is_hugetlb: bool = False


@dataclass
class Run:
    """One run, or the medians of some."""

    wall_ms: float
    cpu_ms: float
    resident_mib: float
    pool_mib: float
    figures: dict[str, list[float]]  # what the program printed

    def peak_mib(self) -> float:
        return self.resident_mib + self.pool_mib


class RunError(Exception):
    pass


def find_library(pattern: str) -> str | None:
    found = sorted(glob.glob(f"/usr/lib/*/{pattern}"))
    return found[0] if found else None


# An option of scripts that run find_peers().
PEER = {"action": "append", "default": [], "metavar": "NAME=PATH",
        "help": "one more library"}


def find_peers(hugetlbfs: str, added: list[str]) -> tuple[list[Setup], list[str]]:
    """Set-ups of others, those of --peer last, and the names of those that are not
    installed."""
    tunable = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=2"}
    found = [Setup("glibc"), Setup("glibc hugetlb=2", tunable, is_hugetlb=True)]
    memfs = {"TCMALLOC_MEMFS_MALLOC_PATH": os.path.join(hugetlbfs, "heap")}
    known: list[tuple[str, str, dict[str, str]]] = [
        ("jemalloc", "libjemalloc.so.2", {}),
        ("mimalloc", "libmimalloc.so.2", {}),
        ("mimalloc LARGE", "libmimalloc.so.2", {"MIMALLOC_LARGE_OS_PAGES": "1"}),
        ("tcmalloc", "libtcmalloc_minimal.so.4", {}),
        ("tcmalloc memfs", "libtcmalloc_minimal.so.4", memfs),
    ]
    missing = []
    for name, pattern, words in known:
        path = find_library(pattern)
        if path:
            environment = {"LD_PRELOAD": path, **words}
            found.append(Setup(name, environment, is_hugetlb=bool(words)))
        else:
            missing.append(name)
    for peer in added:
        name, _, path = peer.partition("=")
        if not os.path.exists(path):
            refuse(f"no library '{path}'; fix: --peer NAME=PATH")
        found.append(Setup(name, {"LD_PRELOAD": os.path.abspath(path)}))
    return found, missing


def our_setups(library: str) -> list[Setup]:
    lock = {"XOS_MMM_L_ARENA_LOCK_TYPE": "0"}
    settings: list[tuple[str, dict[str, str]]] = [
        ("mpg", {}),
        ("mpg LOCK=0", lock),
        ("mpg FREE=2", {"XOS_MMM_L_ARENA_FREE": "2"}),
        ("mpg COLORING=0", {"XOS_MMM_L_COLORING": "0"}),
        ("mpg LOCK=0 keep", {**lock, "MALLOC_TRIM_THRESHOLD_": str(1 << 50)}),
    ]
    # Only the heap on large pages: stacks stay on normal ones, as the peers' do.
    common = {"LD_PRELOAD": library, "MPG_MODE": "hugetlb", "XOS_MMM_L_LPG_MODE": "base"}
    return [Setup(name, {**common, **words}, True, True) for name, words in settings]


def read_pool(name: str) -> int:
    with open(os.path.join(POOL, name), encoding="ascii") as file:
        return int(file.read())


def middle(runs: list[Run], get) -> float:
    return statistics.median(map(get, runs))


def middle_run(runs: list[Run]) -> Run:
    figures = {
        name: list(map(statistics.median, zip(*(run.figures[name] for run in runs))))
        for name in runs[0].figures
    }
    return Run(
        middle(runs, lambda run: run.wall_ms),
        middle(runs, lambda run: run.cpu_ms),
        middle(runs, lambda run: run.resident_mib),
        middle(runs, lambda run: run.pool_mib),
        figures,
    )


def check_needs(arguments: argparse.Namespace) -> None:
    if arguments.rounds < 2:
        refuse("an interval needs at least two rounds")
    if os.geteuid() != 0:
        refuse("needs root: a hugetlb control group and a mounted hugetlbfs")
    if not os.path.exists(arguments.lib):
        refuse(f"no library {arguments.lib}; build it, or name it with --lib")


class Bench:
    """Programs in a folder of their own, a mounted hugetlbfs, a control group;
    all of it gone at the end of `with`."""

    def __enter__(self) -> "Bench":
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="heap-bench-"))
            self.hugetlbfs = os.path.join(self.folder, "hugetlbfs")
            os.mkdir(self.hugetlbfs)
            subprocess.run(["mount", "-t", "hugetlbfs", "none", self.hugetlbfs], check=True)
            stack.callback(subprocess.run, ["umount", self.hugetlbfs], check=False)
            self.group = stack.enter_context(stack.enter_context(Hierarchy()).group())
            self.launcher = self.build("launchOne.c", "-static")
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def build(self, source: str, *options: str) -> str:
        """Compiles a program of PROGRAMS, or one that is there already; its path."""
        out = os.path.join(self.folder, os.path.splitext(source)[0])
        if not os.path.exists(out):
            compiler = "c++" if source.endswith(".cpp") else "cc"
            path = os.path.join(PROGRAMS, source)
            command = [compiler, "-O3", "-pthread", *options, path, "-o", out]
            subprocess.run(command, check=True)
        return out

    def warm_pool(self, pages: int) -> None:
        """Touches the pages that the runs will get: the first touch of a page
        that the host of a virtual machine has not backed yet costs milliseconds.
        The kernel hands out first what came back last."""
        code = (
            "import mmap, sys\n"
            f"size = {pages} << 21\n"
            "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000\n"
            "block = mmap.mmap(-1, size, flags=flags)\n"
            "for at in range(0, size, 4096):\n"
            "    block[at] = 1\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    def run(self, setup: Setup, command: list[str]) -> Run:
        """Runs once; RunError where it ends with an error."""
        report = os.path.join(self.folder, "report")
        reset = os.path.join(self.group.path, "hugetlb.2MB.max_usage_in_bytes")
        if not self.group.v2:
            with open(reset, "w", encoding="ascii") as file:
                file.write("0")
        procs = os.path.join(self.group.path, "cgroup.procs")
        try:
            done = subprocess.run(
                [self.launcher, procs, report, *command],
                env={**os.environ, **setup.environment},
                capture_output=True,
                text=True,
                timeout=SECONDS_AT_MOST,
            )
        except subprocess.TimeoutExpired as error:
            raise RunError(f"not ended after {SECONDS_AT_MOST} s") from error
        if done.returncode:
            raise RunError(f"launchOne ended with {done.returncode}")
        with open(report, encoding="ascii") as file:
            wall, cpu, kib, status = file.read().split()
        if int(status):
            last = done.stderr.strip().rpartition("\n")[2]
            raise RunError(f"ended with {os.waitstatus_to_exitcode(int(status))} {last}")
        peak = max(self.group.peak(), 0)
        return Run(
            float(wall),
            float(cpu),
            int(kib) / 1024,
            peak / 2**20,
            {
                name: [float(part) for part in value.split(",")]
                for name, value in re.findall(r"^(\w+)=([-\d.,e]+)$", done.stdout, re.M)
            },
        )

    def rounds(
        self, setups: list[Setup], command: list[str], count: int
    ) -> tuple[dict[str, list[Run]], dict[str, str]]:
        """`count` runs of each set-up after one that does not count, and the failures: a set-up
        that fails once is skipped from then on."""
        runs: dict[str, list[Run]] = {setup.name: [] for setup in setups}
        failed: dict[str, str] = {}
        order = random.Random(1)
        for turn in range(count + 1):
            for setup in order.sample(setups, len(setups)):
                if setup.name in failed:
                    continue
                try:
                    run = self.run(setup, command)
                except RunError as error:
                    failed[setup.name] = str(error)
                    continue
                if turn:
                    runs[setup.name].append(run)
        return {name: some for name, some in runs.items() if name not in failed}, failed
