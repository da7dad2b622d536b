#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the processor time of mpgaudit with `scanelf -a` on this machine.

Every ELF file of /usr/bin and /usr/lib, listed once, goes through three
commands: mpgaudit with all default checks, mpgaudit with the layout checks
only, and scanelf. They run in turn, in an order drawn anew for each pair, so
that a busy neighbour or a warming cache hits all three; the figure is the
geometric mean of the paired ratios with its 95 % interval. Processor time
(user + system), not wall time: the latter depends on who else is there.

A bar is "reached" when the good end of the interval meets it and the mean is
within 5 % of it.
"""

import dataclasses
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import List, Optional, Tuple

from measuring import REPO, machine, parse, refuse

ROOTS = ["/usr/bin", "/usr/lib"]
DEFAULT_BAR = 1.0          # times scanelf -a
LAYOUT_BAR = 1.0           # times scanelf -a
PEAK_BAR_KIB = 32 << 10    # plus the largest symbol table
VERSION_BAR_MS = 3.0
VERSION_RUNS = 100
MEAN_TOLERANCE = 1.05


@dataclasses.dataclass
class Usage:
    """The cost of one process."""
    cpu_seconds: float
    wall_seconds: float
    peak_kib: int
    status: int


def run(command: List[str]) -> Usage:
    """Runs `command` with its output thrown away."""
    null = os.open(os.devnull, os.O_RDWR)
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, null, fd) for fd in range(3)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    os.close(null)
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss,
                 os.waitstatus_to_exitcode(status))


def list_elf_files() -> List[str]:
    """Regular ELF files below ROOTS, without links."""
    found = []
    for root in ROOTS:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                try:
                    with open(path, "rb") as file:
                        if file.read(4) == b"\x7fELF" and "\n" not in path:
                            found.append(path)
                except OSError:
                    continue
    return sorted(found)


def largest_symbol_table(paths: List[str]) -> Tuple[int, str]:
    """Bytes and file of the largest .symtab or .dynsym, according to readelf."""
    pattern = re.compile(r"\s(?:SYMTAB|DYNSYM)\s+[0-9a-f]{8,16} [0-9a-f]+ " r"([0-9a-f]+) ")
    best, name, current = 0, "", ""
    for start in range(0, len(paths), 500):
        text = subprocess.run(
            ["readelf", "-W", "-S", *paths[start:start + 500], os.devnull],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=False).stdout.decode(errors="replace")
        for line in text.split("\n"):
            if line.startswith("File: "):
                current = line[6:]
            elif found := pattern.search(line):
                size = int(found.group(1), 16)
                best, name = max((best, name), (size, current))
    return best, name


def student_t(freedom: int) -> float:
    """The two-sided 95 % quantile (Cornish-Fisher; within 0.1 % from 20
    degrees of freedom on)."""
    z = 1.959964
    return z + (z**3 + z) / (4 * freedom) \
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


@dataclasses.dataclass
class Estimate:
    """A paired ratio, as a geometric mean with its interval."""
    mean: float
    low: float
    high: float
    least: float
    most: float

    @staticmethod
    def of(ratios: List[float]) -> "Estimate":
        logs = [math.log(ratio) for ratio in ratios]
        mean = statistics.fmean(logs)
        half = (student_t(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs)))
        return Estimate(math.exp(mean), math.exp(mean - half),
                        math.exp(mean + half), min(ratios), max(ratios))

    def verdict(self, bar: float) -> str:
        return verdict(self.mean, self.low, bar)


def verdict(middle: float, good_end: float, bar: float) -> str:
    reached = good_end <= bar and middle <= bar * MEAN_TOLERANCE
    return "reached" if reached else "not reached"


def measure(commands: List[List[str]], pairs: int) -> List[List[Usage]]:
    """`pairs` rounds of all commands in random order, after one warm-up."""
    usages: List[List[Usage]] = [[] for _ in commands]
    for command in commands:
        run(command)
    rng = random.Random(1)
    for _ in range(pairs):
        for i in rng.sample(range(len(commands)), len(commands)):
            usages[i].append(run(commands[i]))
    return usages


def print_usage(name: str, usages: List[Usage]) -> None:
    cpu = [1000 * usage.cpu_seconds for usage in usages]
    wall = [1000 * usage.wall_seconds for usage in usages]
    print(f"{name:24} {statistics.median(cpu):8.1f} {min(cpu):8.1f} "
          f"{max(cpu):8.1f} {statistics.median(wall):9.1f} "
          f"{max(usage.peak_kib for usage in usages) / 1024:9.1f}")


def print_ratio(name: str, ours: List[Usage], theirs: List[Usage], bar: float) -> bool:
    """One line for a bar; whether it is reached."""
    ratio = Estimate.of([a.cpu_seconds / b.cpu_seconds for a, b in zip(ours, theirs)])
    print(f"{name}: {ratio.mean:.3f}x scanelf -a (95 % {ratio.low:.3f} to "
          f"{ratio.high:.3f}, pairs {ratio.least:.3f} to {ratio.most:.3f}); "
          f"bar {bar:.1f}x: {ratio.verdict(bar)}")
    return ratio.verdict(bar) == "reached"


def print_peak(usages: List[Usage], paths: List[str]) -> bool:
    """Peak memory against 32 MiB plus the largest symbol table."""
    # The kernel counts what the process was before it became mpgaudit, so
    # this script's own size is the least that can be seen.
    floor = run([shutil.which("true") or "/bin/true"]).peak_kib
    table_bytes, where = largest_symbol_table(paths)
    peak = max(usage.peak_kib for usage in usages)
    bar = PEAK_BAR_KIB + table_bytes // 1024
    reached = peak <= bar
    print(f"peak memory: {peak / 1024:.1f} MiB (a process that does nothing "
          f"shows {floor / 1024:.1f}); bar 32 MiB + {table_bytes / 2**20:.1f} "
          f"(symbol table of {where}): "
          f"{'reached' if reached else 'not reached'}")
    return reached


def print_version_time(tool: str) -> bool:
    """Wall time of --version, with an order-statistics interval. An empty process runs in turn with
    it and shows the machine's share."""
    nothing = shutil.which("true") or "/bin/true"
    walls: List[List[float]] = [[], []]
    for i in range(VERSION_RUNS + 1):
        for wall, command in zip(walls, ([tool, "--version"], [nothing])):
            milliseconds = 1000 * run(command).wall_seconds
            if i:  # The first round warms the caches.
                wall.append(milliseconds)
    wall = sorted(walls[0])
    # The 40th and 61st of 100 enclose the median with 95 % confidence.
    low, middle, high = wall[39], statistics.median(wall), wall[60]
    said = verdict(middle, low, VERSION_BAR_MS)
    print(f"--version: median {middle:.2f} ms of {VERSION_RUNS} (95 % "
          f"{low:.2f} to {high:.2f}, min {wall[0]:.2f}; a process that does "
          f"nothing {statistics.median(walls[1]):.2f}); bar "
          f"{VERSION_BAR_MS:.0f} ms: {said}")
    return said == "reached"


def parse_arguments() -> Tuple[str, int]:
    arguments = parse(__doc__, mpgaudit=os.path.join(REPO, "build/bin/mpgaudit"), pairs=30,
                      root={"action": "append", "metavar": "FOLDER",
                            "help": f"where files are; {' and '.join(ROOTS)} without it"})
    if arguments.pairs < 2:
        refuse("an interval needs at least two pairs")
    tool: Optional[str] = shutil.which(arguments.mpgaudit)
    if not tool:
        refuse(f"no program {arguments.mpgaudit}")
    ROOTS[:] = arguments.root or ROOTS
    return os.path.abspath(tool), arguments.pairs


def main() -> int:
    tool, pairs = parse_arguments()
    scanelf = shutil.which("scanelf")
    if not scanelf:
        sys.exit("mpgaudit_speed.py: scanelf is missing (package pax-utils)")
    paths = list_elf_files()
    with tempfile.NamedTemporaryFile("w", suffix=".list") as file:
        file.write("".join(path + "\n" for path in paths))
        file.flush()
        common = [tool, "-j1", "--no-closure", "--format=line"]
        commands = [[*common, "@" + file.name],
                    [*common, "--checks=layout", "@" + file.name],
                    [scanelf, "-a", "-f", file.name]]
        usages = measure(commands, pairs)
    # 2 is possible: one damaged file on the machine is enough.
    broken = [u.status for u in usages[0] + usages[1] if u.status not in (0, 1, 2)]
    print(f"{len(paths)} ELF files of {' '.join(ROOTS)}, {pairs} pairs")
    print(f"machine: {machine()}")
    print(f"{'':24} {'cpu ms':>8} {'min':>8} {'max':>8} {'wall ms':>9} {'peak MiB':>9}")
    for name, rows in zip(("mpgaudit", "mpgaudit layout", "scanelf -a"), usages):
        print_usage(name, rows)
    reached = [
        print_ratio("all default checks", usages[0], usages[2], DEFAULT_BAR),
        print_ratio("layout checks", usages[1], usages[2], LAYOUT_BAR),
        print_peak(usages[0] + usages[1], paths), print_version_time(tool)]
    if broken:
        print(f"mpgaudit ended with {broken[0]} in {len(broken)} runs: the "
              "times are those of an incomplete run")
    return 0 if all(reached) and not broken else 1


if __name__ == "__main__":
    sys.exit(main())
