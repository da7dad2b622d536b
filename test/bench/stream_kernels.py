#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""STREAM copy and triad of libmpg against what there is without it.

Compared with: plain loops compiled by gcc and clang with -O3 and with -O3
-march=native (triad also with its factor a constant, the loop of the peer
benchmarks), memcpy, and stores past the caches by hand with AVX2 and AVX-512.
Sizes are those of all arrays together, on transparent huge pages: in L2, in L3
(three), in memory. One program holds all candidates and times each once a round,
in a new random order; a figure is the median of the paired ratios (time of the
peer over time of libmpg) with its 95 % interval. The bar counts
for the best peer of each line, the one with the least median.

A bar is "reached" when the good end of the interval meets it and the median
is within 5 % of it. Exit status 1: a bar is missed. 2: could not measure.
"""

import argparse
import collections
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List, Tuple

sys.dont_write_bytecode = True
from measuring import BUILD, REPO, machine, parse, refuse

SOURCES = REPO / "test" / "bench" / "kernels"

BAR = 0.97
TOLERANCE = 1.05
ARRAYS = {"copy": 2, "triad": 3}
# Name, bytes of all arrays, rounds.
SIZES = [("L2", 384 << 10, 100), ("L3", 8 << 20, 100), ("L3", 12 << 20, 100),
         ("L3", 16 << 20, 100),
         ("memory", 768 << 20, 30)]
OURS = "libmpg"

Times = Dict[str, List[float]]  # nanoseconds of a pass, one a round


class Failure(Exception):
    pass


def run(command: List[str], **options: object) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}:\n{done.stdout}")
    return done.stdout


def variants() -> List[Tuple[str, List[str]]]:
    """Compilers and options for the plain loops, by name."""
    found = []
    for name, command in (("gcc", "gcc"), ("clang", "clang-22")):
        if shutil.which(command):
            found += [(f"{name}_O3", [command, "-O3"]),
                      (f"{name}_native", [command, "-O3", "-march=native"])]
    if not found:
        raise Failure("neither gcc nor clang-22 is installed")
    return found


def build(work: pathlib.Path, library: pathlib.Path) -> pathlib.Path:
    work.mkdir(parents=True, exist_ok=True)
    program = work / "stream_bench"
    sources = [*SOURCES.glob("stream_*"), library]
    if program.exists() and all(program.stat().st_mtime > source.stat().st_mtime
                                for source in sources):
        return program
    objects = []
    for name, command in variants():
        objects.append(str(work / f"loops_{name}.o"))
        run([*command, f"-DVARIANT={name}", "-c", str(SOURCES / "stream_loops.c"),
             "-o", objects[-1]])
    (work / "stream_variants.inc").write_text(
        "".join(f"VARIANT({name})\n" for name, _ in variants()), "ascii")
    folder = library.resolve().parent
    run([variants()[0][1][0], "-O2", "-Wall", f"-I{REPO}/runtime/include",
         f"-I{work}", str(SOURCES / "stream_bench.c"),
         str(SOURCES / "stream_hand.c"), *objects, "-o", str(program),
         f"-L{library.parent}", "-lmpgrt", f"-Wl,-rpath,{folder}", "-pthread"])
    return program


def measure(program: pathlib.Path, operation: str, threads: int,
            total_bytes: int, rounds: int) -> Times:
    # The program owns the arrays; libmpg has nothing to move.
    text = run([str(program), operation, str(threads), str(total_bytes),
                str(rounds), str(random.randrange(1 << 30))],
               env={**os.environ, "MPG_MODE": "none"})
    times: Times = collections.defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0].isdigit():
            times[words[1]].append(float(words[2]))
    return times


def middle_ratio(peer: List[float], ours: List[float]) -> Tuple[float, float, float]:
    """Median of peer / ours and its 95 % interval, from the ranks alone: a round
    in which the machine did something else counts once, however long it took."""
    ratios = sorted(p / o for p, o in zip(peer, ours))
    half = 0.98 * math.sqrt(len(ratios))
    low = max(0, math.floor(len(ratios) / 2 - half))
    high = min(len(ratios) - 1, math.ceil(len(ratios) / 2 + half))
    return statistics.median(ratios), ratios[low], ratios[high]


def spread_percent(times: List[float]) -> float:
    """From the first quartile to the third, of the median."""
    low, middle, high = statistics.quantiles(times, n=4)
    return 100 * (high - low) / middle


def judge(middle: float, high: float) -> bool:
    return high >= BAR and middle * TOLERANCE >= BAR


def report(operation: str, place: str, total_bytes: int, threads: int,
           times: Times, details: bool) -> bool:
    ours = times[OURS]
    best = min((name for name in times if name != OURS),
               key=lambda name: statistics.median(times[name]))
    middle, low, high = middle_ratio(times[best], ours)
    reached = judge(middle, high)
    # STREAM's count: what the loop names, without reads that a write causes.
    array_bytes = total_bytes / ARRAYS[operation] // 256 * 256
    counted = array_bytes * ARRAYS[operation]
    print(f"{operation:6} {place:7} {total_bytes / 1024:7.0f} KiB  {threads}  "
          f"{counted / statistics.median(ours):6.1f} "
          f"(best {counted / min(ours):6.1f}, spread {spread_percent(ours):4.1f} %)  "
          f"{middle:5.3f} [{low:5.3f}, {high:5.3f}] x {best:20} "
          f"{'reached' if reached else 'MISSED'}", flush=True)
    if details:
        for name in sorted(times, key=lambda name: statistics.median(times[name])):
            middle, low, high = middle_ratio(times[name], ours)
            print(f"    {name:22} {counted / statistics.median(times[name]):6.1f} "
                  f"GB/s (best {counted / min(times[name]):6.1f}, spread "
                  f"{spread_percent(times[name]):4.1f} %)  {middle:5.3f} "
                  f"[{low:5.3f}, {high:5.3f}]")
    return reached


def stolen_ticks() -> int:
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8])


def main() -> int:
    arguments = parse(__doc__, library=BUILD / "lib/libmpgrt.so",
                      work={"type": pathlib.Path, "metavar": "DIR",
                            "help": "keep what is built there, and use it again"},
                      build_only=False,
                      only={"default": "", "metavar": "TEXT",
                            "help": "lines that contain it, as in 'triad memory 1'"},
                      rounds={"type": int, "help": "instead of 30 to 100"},
                      details={"action": "store_true", "help": "all peers"})
    if arguments.rounds == 1:
        refuse("--rounds: two at least, for quartiles")
    with tempfile.TemporaryDirectory() as scratch:
        work = (arguments.work or pathlib.Path(scratch)).absolute()
        program = build(work, arguments.library)
        return 0 if arguments.build_only else compare(program, arguments)


def compare(program: pathlib.Path, arguments: argparse.Namespace) -> int:
    print(f"machine: {machine()}")
    print("GB/s of libmpg: median (best, quartile spread); ratio to the best peer "
          f"[95 % interval], bar {BAR}")
    stolen, missed, lines = stolen_ticks(), 0, 0
    for operation in ARRAYS:
        for place, total_bytes, rounds in SIZES:
            for threads in (1, 2):
                if arguments.only not in f"{operation} {place} {threads}" or \
                        threads > len(os.sched_getaffinity(0)):
                    continue
                times = measure(program, operation, threads, total_bytes,
                                arguments.rounds or rounds)
                missed += not report(operation, place, total_bytes, threads,
                                     times, arguments.details)
                lines += 1
    print(f"{lines} lines, {missed} missed; "
          f"{stolen_ticks() - stolen} ticks stolen by the hypervisor; {machine()}")
    return 1 if missed or not lines else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"stream_kernels.py: error: {failure}", file=sys.stderr)
        sys.exit(2)
