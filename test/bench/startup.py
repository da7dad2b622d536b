#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU time that a start costs: plain, with an empty library, libmpg, under mpgrun.

Starts each program in turn in all ways, --rounds times (200 unless said), and prints the
medians of user and system time with the difference to plain, the ratio to it, and
their 95 % intervals of the median. Programs unless said: true. Each --way adds mpgrun
with these options, such as --way="--children --mode=none". The loader alone takes
what the empty library costs; gcc makes it.
"""

import argparse
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

from measuring import LIBRARY, MPGRUN, parse, with_interval

BARS = {"libmpg, thp": 0.6, "libmpg, none": 0.6, "mpgrun --mode=thp": 2.0}


def cpu_milliseconds(command: list, environment: dict) -> float:
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    child = os.posix_spawnp(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"{command}: status {status}")
    return (used.ru_utime + used.ru_stime) * 1e3


def measure(program: list, options: argparse.Namespace) -> None:
    plain = dict(os.environ)
    ways = {
        "plain": (program, plain),
        "empty library": (program, {**plain, "LD_PRELOAD": options.empty}),
        "libmpg, none": (program, {**plain, "LD_PRELOAD": options.library,
                                   "MPG_MODE": "none"}),
        "libmpg, thp": (program, {**plain, "LD_PRELOAD": options.library,
                                  "MPG_MODE": "thp"}),
        **{f"mpgrun {way}": ([options.mpgrun, *shlex.split(way), "--", *program], plain)
           for way in ["--mode=thp", *options.way]},
    }
    width = max(map(len, ways))
    times = {way: [] for way in ways}
    for round_number in range(options.rounds + 1):
        for way in random.sample(list(ways), len(ways)):
            taken = cpu_milliseconds(*ways[way])
            if round_number:  # the first reads the files
                times[way].append(taken)
    print(f"{shlex.join(program)}: medians of {options.rounds}, ms of CPU time")
    for way, taken in times.items():
        more = [one - other for one, other in zip(taken, times["plain"])]
        ratios = [one / other for one, other in zip(taken, times["plain"])]
        bar = f", at most {BARS[way]:+.1f}" if way in BARS else ""
        print(f"  {way:{width}} {statistics.median(taken):6.2f}  "
              f"{with_interval(more, '+.2f', '')}, {with_interval(ratios)}{bar}")


def main() -> None:
    options = parse(__doc__, rounds=200, program=[], way=[], mpgrun=MPGRUN, library=LIBRARY + ".1")
    with tempfile.TemporaryDirectory() as folder:
        options.empty = f"{folder}/empty.so"
        subprocess.run(["gcc", "-shared", "-x", "c", os.devnull, "-o", options.empty],
                       check=True)
        for program in options.program or ["true"]:
            measure(shlex.split(program), options)


if __name__ == "__main__":
    main()
