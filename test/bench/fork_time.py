#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of a fork under libmpg, from the second on, in a program with little memory.

    fork_time.py [--library LIBMPG.SO] [--pairs N] [--threads N]

Runs a program that forks 400 times with and without libmpg in turn and compares,
pair by pair, the median time of a fork and the end of its child, and the processor
time of both processes together, which other work on the machine disturbs less. Prints
medians and the ratio with the interval of 95 %. Needs gcc and a pool.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import List, Tuple

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TEST / "lib"))
from mpgtest.measure import get_median_interval  # noqa: E402


def microseconds(program: str, threads: int, environment: dict) -> List[float]:
    done = subprocess.run([program, str(threads)], stdout=subprocess.PIPE, check=True,
                          env=environment)
    return [float(word) for word in done.stdout.split()]


def report(what: str, pairs: List[Tuple[float, float]]) -> None:
    ratios = [ours / theirs for theirs, ours in pairs]
    low, high = get_median_interval(ratios)
    print(f"{what}: plain {statistics.median(p[0] for p in pairs):.1f} us, "
          f"libmpg {statistics.median(p[1] for p in pairs):.1f} us, "
          f"ratio {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default=str(TEST.parent / "build/lib/libmpgrt.so"))
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    plain = {"PATH": os.environ["PATH"]}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "forks")
        source = pathlib.Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-pthread", source, "-o", program], check=True)
        pairs = [(microseconds(program, options.threads, plain),
                  microseconds(program, options.threads,
                               dict(plain, LD_PRELOAD=options.library)))
                 for _ in range(options.pairs)]
    for index, what in enumerate(("time", "processor time")):
        report(what, [(theirs[index], ours[index]) for theirs, ours in pairs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
