#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does `mpgbench run triad` agree with likwid-bench (Debian's package likwid)?

For each size of all three arrays together and number of threads both measure the same
loop, a[i] = b[i] + s * c[i], on base pages, in turn, which of them first by chance, for
--rounds rounds; likwid-bench by its kernel of doubles that the compiler's code for
mpgbench comes closest to (--kernel). Prints the median of both in GB/s, each counted
as 24 bytes of an element, and the median of the ratios with the least and the most of
them. Only for a quiet machine, where it takes three minutes: likwid-bench runs a
second of wall time, turns of other programs included.
"""

import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]


def likwid(options: argparse.Namespace, elements: int, threads: int) -> float:
    size = f"N:{elements * 24 // 1000}kB:{threads}"
    text = subprocess.check_output(
        [options.likwid, "-t", options.kernel, "-s", "1", "-W", size],
        stderr=subprocess.STDOUT, text=True)
    found = re.search(r"^MByte/s:\s*([0-9.]+)", text, re.MULTILINE)
    if not found:
        sys.exit(f"triad_likwid.py: error: {options.likwid} says:\n{text}")
    return float(found.group(1)) / 1000


def triad(options: argparse.Namespace, elements: int, threads: int) -> float:
    mpgbench = os.path.join(options.build, "bin", "mpgbench")
    command = [mpgbench, "worker", "triad", "pages=4K", f"threads={threads}",
               f"n={elements}"]
    result = json.loads(subprocess.check_output(command, text=True))
    if result["error"]:
        sys.exit(f"triad_likwid.py: error: mpgbench triad: {result['error']}")
    return result["value"]


def measure(options: argparse.Namespace, mib: int, threads: int) -> None:
    theirs, ours = [], []
    # Whole pages of each array, and no rest in likwid-bench's unrolled loop.
    elements = (mib << 20) // 24 // 4096 * 4096
    for _ in range(options.rounds):
        both = [(theirs, likwid), (ours, triad)]
        random.shuffle(both)
        for values, program in both:
            values.append(program(options, elements, threads))
    ratios = [mine / other for mine, other in zip(ours, theirs)]
    print(f"| {mib} MiB | {threads} | {statistics.median(theirs):.2f}"
          f" | {statistics.median(ours):.2f} | {statistics.median(ratios):.2f}"
          f" [{min(ratios):.2f}, {max(ratios):.2f}] |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(REPO / "build"))
    parser.add_argument("--likwid", default="likwid-bench")
    parser.add_argument("--kernel", default="stream")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mib", default="256,768")
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    print("| all arrays | threads | likwid-bench, GB/s | triad, GB/s"
          " | ratio [least, most] |")
    print("|---|---|---|---|---|")
    for mib in options.mib.split(","):
        for threads in options.threads.split(","):
            measure(options, int(mib), int(threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
