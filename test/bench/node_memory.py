#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of a node that many copies of a program with a large .bss take.

Starts the copies at once, plain and under mpgrun in each mode, as the ranks of an MPI
job start on one node. Each touches ten bytes of its .bss and waits. Prints the memory
of all copies (their shares of normal and transparent pages, their pages of the pool,
and their page tables) and the CPU time of a copy: medians of the rounds. Needs gcc.
"""

import os
import pathlib
import re
import statistics
import subprocess
import tempfile
from typing import List, Tuple

from measuring import MPGRUN, parse

SOURCE = r"""
#include <stdio.h>
static volatile char field[BYTES];
int main(void) {
  for (unsigned i = 0; i < 10; ++i)
    field[BYTES / 10 * i] = 1;
  puts("ready");
  fflush(stdout);
  return getchar() != EOF;
}
"""
PARTS = {"smaps_rollup": "Pss|Private_Hugetlb", "status": "VmPTE"}


def mib_of(pid: int) -> float:
    kib = 0
    for file, names in PARTS.items():
        text = pathlib.Path(f"/proc/{pid}/{file}").read_text(encoding="ascii")
        found = re.findall(rf"^(?:{names}): *(\d+) kB", text, re.MULTILINE)
        kib += sum(int(number) for number in found)
    return kib / 1024


def run_copies(command: List[str], copies: int) -> Tuple[float, float]:
    """MiB of all and ms of CPU time of one."""
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL) for _ in range(copies)]
    for process in running:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n", command
    mib = sum(mib_of(process.pid) for process in running)
    milliseconds = 0.0
    for process in running:
        assert process.stdin and process.stdout
        process.stdin.close()
        _, process.returncode, used = os.wait4(process.pid, 0)
        process.stdout.close()
        milliseconds += (used.ru_utime + used.ru_stime) * 1e3
    return mib, milliseconds / copies


def main() -> None:
    options = parse(__doc__, mpgrun=MPGRUN, copies=64, mib=200, rounds=3)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", program,
                        f"-DBYTES=({options.mib}ul << 20)"], input=SOURCE, text=True,
                       check=True)
        ways = {"plain": [program]}
        for mode in ("none", "thp", "auto", "hugetlb"):
            ways[mode] = [options.mpgrun, f"--mode={mode}", program]
        results = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, command in ways.items():
                results[way].append(run_copies(command, options.copies))
    print(f"{options.copies} copies with {options.mib} MiB of .bss, ten bytes touched")
    for way, taken in results.items():
        mib, milliseconds = map(statistics.median, zip(*taken))
        print(f"  {way:8} {mib:7.0f} MiB, {milliseconds:6.1f} ms of CPU time a copy")


main()
