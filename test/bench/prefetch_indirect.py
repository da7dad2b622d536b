#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much faster --mpg-prefetch-indirect=N makes loops that look data up by an index, on this machine.

Processor time of the kernels of prefetch_indirect.c without prefetches divided by the time with them, in
interleaved rounds: the median, and the interval in which it lies with 95 % confidence (order
statistics). All programs must compute the same. The first five kernels should gain; "small table"
and "sum" cannot.
"""

import os
import pathlib
import statistics
import subprocess
import tempfile
from typing import Tuple

from measuring import BUILD, build_pair, get_median_interval, parse

KERNELS = {"i": "IS: counts keys", "m": "SpMV, rows of 16", "r": "RandomAccess", "h": "hash join",
           "b": "BFS, 8 neighbours", "t": "small table", "a": "sum"}


def run(program: pathlib.Path, kernel: str) -> Tuple[int, str]:
    done = subprocess.run([program, kernel, "2"], check=True, stdout=subprocess.PIPE, text=True)
    time, result = done.stdout.split()
    return int(time), result


def main() -> None:
    options = parse(__doc__, build=BUILD, distance=32, rounds=9, only={"choices": KERNELS})
    print(f"distance {options.distance}, {options.rounds} rounds, load {os.getloadavg()[0]:.0f}\n"
          "| kernel | times as fast | interval |\n|---|---|---|")
    gains = []
    with tempfile.TemporaryDirectory() as folder:
        programs = build_pair(options.build, __file__, folder, [],
                              f"--mpg-prefetch-indirect={options.distance}")
        for kernel in KERNELS if not options.only else [options.only]:
            ratios = []
            for _ in range(options.rounds):
                (plain, expected), (ahead, result) = (run(program, kernel) for program in programs)
                if result != expected:
                    raise SystemExit(f"{KERNELS[kernel]}: another result with prefetches")
                ratios.append(plain / ahead)
            low, high = get_median_interval(ratios)
            print(f"| {KERNELS[kernel]} | {statistics.median(ratios):.2f} | {low:.2f} to {high:.2f} |", flush=True)
            gains += [statistics.median(ratios)] if kernel not in "ta" else []
    if gains:
        print(f"geometric mean of those with lookups: {statistics.geometric_mean(gains):.2f}")


main()
