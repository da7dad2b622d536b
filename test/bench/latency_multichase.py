#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""latency_multichase.py PROGRAM: does `mpgbench run latency` agree with multichase?

PROGRAM is multichase (https://github.com/google/multichase, built by its Makefile).
For each size of the array and kind of pages both measure in turn, which of them first
by chance, for --rounds rounds: multichase with `-s 64 -T SIZE`, which visits the whole
array in random order as latency does. Prints, for each, the least and the median of
both in ns, the ratio of the medians and of the least, and the spread of the ratio from
round to round. Only for a quiet machine: a sample of multichase is half a second of
wall time, turns of other programs included.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
PAGES = {"4K": [], "2M": ["-p", "2m"]}


def multichase(options: argparse.Namespace, size: str, pages: str) -> float:
    command = [options.program, "-s", "64", "-m", size, "-T", size, "-n", "2"]
    return float(subprocess.check_output(command + PAGES[pages], text=True))


def latency(options: argparse.Namespace, size: str, pages: str) -> float:
    mpgbench = os.path.join(options.build, "bin", "mpgbench")
    command = [mpgbench, "worker", "latency", f"pages={pages}", f"size={size}"]
    result = json.loads(subprocess.check_output(command + ["stride=64"], text=True))
    if result["error"]:
        sys.exit(f"mpgbench latency, {size} on {pages}: {result['error']}")
    return result["value"]


def measure(options: argparse.Namespace, size: str, pages: str) -> None:
    theirs, ours = [], []
    for _ in range(options.rounds):
        both = [(theirs, multichase), (ours, latency)]
        random.shuffle(both)
        for values, program in both:
            values.append(program(options, size, pages))
    ratios = [mine / other for mine, other in zip(ours, theirs)]
    print(f"| {size} | {pages} | {min(theirs):.2f} ({statistics.median(theirs):.2f})"
          f" | {min(ours):.2f} ({statistics.median(ours):.2f})"
          f" | {min(ours) / min(theirs):.2f}"
          f" | {statistics.median(ratios):.2f} [{min(ratios):.2f}, {max(ratios):.2f}] |",
          flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--build", default=str(REPO / "build"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", default="16K,256K,4M,64M,256M")
    parser.add_argument("--pages", default="4K,2M")
    options = parser.parse_args()
    print("| size | pages | multichase, ns | latency, ns | least | median [least, most] |")
    print("|---|---|---|---|---|---|")
    for size in options.sizes.split(","):
        for pages in options.pages.split(","):
            # multichase takes whole pages only.
            if pages == "4K" or size.endswith(("M", "G")):
                measure(options, size, pages)
    return 0


if __name__ == "__main__":
    sys.exit(main())
