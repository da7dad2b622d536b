#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast mpgsim is, beside cachegrind and the program itself.

Runs each kernel of sim_speed.c by itself, under mpgsim (A64FX, pages of 64 KiB and 2 MiB, one map)
and under valgrind's cachegrind (caches of A64FX), in turn. The cost of a kernel is the time of many
rounds minus that of few. Prints medians: seconds of the kernel, the ratios, and the same of
processor time, which for mpgsim is that of two processes at once, and the load.

--seconds: begins no run after that time. The medians are of the runs that were made, at
least one of each kernel.

--doubling: instead, how many more steps the model takes for loops of twice as
many iterations, as the unit test of it counts them.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, Tuple

from measuring import BUILD, get_processor_seconds, parse

KERNELS = {"triad": (1, 513, 10), "embedding": (1, 1025, 10),
           "rows512": (1, 1025, 1.5), "product": (1, 4, 1.5),
           "banded": (1, 385, 2), "random": (1, 65, 2)}  # rounds, ratio wanted


def seconds(command: List[str]) -> Tuple[float, float]:
    """On the clock, and of the processors."""
    start = time.monotonic()
    used = get_processor_seconds(command)
    return time.monotonic() - start, used


def measure(options: argparse.Namespace, work: pathlib.Path) -> int:
    source = pathlib.Path(__file__).with_suffix(".c")
    wrapper = str(options.bin / "mpg-clang")
    for name, flags in (("plain", []), ("sim", ["--mpg-sim"])):
        subprocess.run([wrapper, "-O3", "-g1", *flags, str(source), "-o",
                        str(work / name)], check=True)
    commands = {
        "native": [str(work / "plain")],
        "mpgsim": [str(options.bin / "mpgsim"), "--pages=64K,2M",
                   str(work / "sim")],
        "cachegrind": ["valgrind", "--tool=cachegrind", "--cache-sim=yes",
                       "--D1=65536,4,256", "--LL=8388608,16,256",
                       "--cachegrind-out-file=/dev/null", str(work / "plain")]}
    missed = 0
    begin = time.monotonic()
    for number, (kernel, (few, many, wanted)) in enumerate(KERNELS.items(), 1):
        end = begin + options.seconds * number / len(KERNELS)
        spent: Dict[str, List[Tuple[float, float]]] = {name: [] for name in commands}
        for run in range(options.runs):
            if run and time.monotonic() > end:
                break
            for name, command in commands.items():
                short = seconds([*command, kernel, str(few)])
                long = seconds([*command, kernel, str(many)])
                spent[name].append((long[0] - short[0], long[1] - short[1]))
        clock, cpu = ({name: max(statistics.median(run[at] for run in runs), 1e-9)
                       for name, runs in spent.items()} for at in (0, 1))
        ratio = clock["cachegrind"] / clock["mpgsim"]
        missed += ratio < wanted
        print(f"{kernel}: native {clock['native']:.3f} s, mpgsim "
              f"{clock['mpgsim']:.3f} s, cachegrind {clock['cachegrind']:.3f} s; "
              f"{ratio:.1f} times as fast as cachegrind (wanted {wanted}; "
              f"{cpu['cachegrind'] / cpu['mpgsim']:.1f} of processor time), "
              f"{clock['mpgsim'] / clock['native']:.1f} times native "
              f"({cpu['mpgsim'] / cpu['native']:.1f}); {len(spent['mpgsim'])} runs",
              flush=True)
    print(f"sim_speed: {missed} of {len(KERNELS)} below what is wanted, load "
          f"{os.getloadavg()[0]:.0f}")
    return 1 if missed else 0


def main() -> int:
    options = parse(__doc__, runs=5, seconds=math.inf, bin=BUILD / "bin", doubling=False)
    if options.doubling:
        return subprocess.run([str(options.bin / "mpg_sim_tests"),
                               "--gtest_filter=SimModel.TwiceTheIterations*",
                               "--gtest_brief=1"], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="sim-speed-") as work:
        return measure(options, pathlib.Path(work))


sys.exit(main())
