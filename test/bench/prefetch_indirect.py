#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much faster --mpg-prefetch-indirect=N makes loops that look data up by an index, on this machine.

  prefetch_indirect.py [--build DIR] [--distance N] [--rounds N] [--only KERNEL]

Processor time of the kernels of prefetch_indirect.c without prefetches divided by the time with them, in
interleaved rounds: the median, and the interval in which it lies with 95 % confidence (order
statistics). All programs must compute the same. The first five kernels should gain; "small table"
and "sum" cannot.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Tuple

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "test/lib"))
from mpgtest.measure import get_median_interval  # noqa: E402

KERNELS = {"i": "IS: counts keys", "m": "SpMV, rows of 16", "r": "RandomAccess", "h": "hash join",
           "b": "BFS, 8 neighbours", "t": "small table", "a": "sum"}


def run(program: pathlib.Path, kernel: str) -> Tuple[int, str]:
    done = subprocess.run([program, kernel, "2"], check=True, stdout=subprocess.PIPE, text=True)
    time, result = done.stdout.split()
    return int(time), result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=REPO / "build")
    parser.add_argument("--distance", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=KERNELS)
    options = parser.parse_args()
    print(f"distance {options.distance}, {options.rounds} rounds, load {os.getloadavg()[0]:.0f}\n"
          "| kernel | times as fast | interval |\n|---|---|---|")
    gains = []
    with tempfile.TemporaryDirectory() as folder:
        programs = [pathlib.Path(folder) / name for name in ("plain", "ahead")]
        for program, more in zip(programs, ([], [f"--mpg-prefetch-indirect={options.distance}"])):
            subprocess.run([options.build / "bin/mpg-clang", "-O2", *more,
                            pathlib.Path(__file__).with_suffix(".c"), "-o", program], check=True)
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


if __name__ == "__main__":
    main()
