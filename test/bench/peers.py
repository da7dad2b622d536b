#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peers.py: do mpgbench's figures agree with those of other programs, and what does
mpgrun --profile cost? Verdicts in --minutes (default 5.9), for a quiet machine.

    latency    `mpgbench run latency` and multichase -a -s 64 -T SIZE, which visits the
               whole array in random order as well: within 5 %
    triad      `mpgbench run triad` and likwid-bench (Debian's package likwid), the best
               of its --kernel, on base pages, 24 bytes an element: within 3 %
    profile    CPU time of ten programs with mpgrun --profile and without, mpgrun's
               own included: at most 2 % more (profile_overhead.py)

All points are measured in turn, round by round, in a random order, mpgbench's and the peer's back
to back; ratios are of the same round. Prints the median and its interval of 95 %; a verdict needs the whole interval on one side. --multichase is
https://github.com/google/multichase, built by its Makefile. Skips missing peers. As root it runs at
nice -20.
"""

import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measuring import BUILD, get_median_interval, get_processor_seconds, parse
import profile_overhead

LATENCIES = [("4K", size) for size in ("16K", "256K", "4M", "256M")]
LATENCIES += [("2M", size) for size in ("4M", "256M")]
TRIADS = [(mib, threads) for mib in (768,) for threads in (1, 2)]


def output(command):
    return subprocess.run(
        [str(word) for word in command], text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


class Bench:
    """Points by name; each is two functions of (time, rate or seconds)."""

    def __init__(self, options, folder):
        self.bin = pathlib.Path(options.build) / "bin"
        self.options = options
        self.points = {}
        if options.multichase:
            for pages, size in LATENCIES:
                self.points["latency", f"{size} on {pages}"] = (
                    lambda p=pages, s=size: self.multichase(p, s),
                    lambda p=pages, s=size: self.worker(
                        "latency", p, f"size={s}", "stride=64"))
        if shutil.which("likwid-bench"):
            for mib, threads in TRIADS:
                # Whole pages of each array, no rest in likwid-bench's unrolled loop.
                count = (mib << 20) // 24 // 4096 * 4096
                self.points["triad", f"{mib} MiB, threads: {threads}"] = (
                    lambda n=count, t=threads: self.likwid(n, t),
                    lambda n=count, t=threads: self.worker(
                        "triad", "4K", f"threads={t}", f"n={n}"))
        for name, program in profile_overhead.programs(folder).items():
            if shutil.which(program[0]):
                self.points["profile", name] = (
                    lambda p=program: self.mpgrun(p),
                    lambda p=program: self.mpgrun(p, "--profile"))
        wanted = options.only or ["latency", "triad", "profile"]
        self.points = {key: both for key, both in self.points.items() if key[0] in wanted}

    def multichase(self, pages, size):
        # The average, as ours is: its best hides what neighbours take of a cache.
        command = [self.options.multichase, "-a", "-s", "64", "-m", size, "-T", size, "-n", "2"]
        return float(output(command + (["-p", "2m"] if pages == "2M" else [])))

    def worker(self, experiment, pages, *parameters):
        command = [self.bin / "mpgbench", "worker", experiment, f"pages={pages}"]
        result = json.loads(output(command + list(parameters)))
        if result["error"]:
            sys.exit(f"peers.py: error: mpgbench {experiment}: {result['error']}")
        return result["value"]

    def likwid(self, elements, threads):
        size = f"N:{elements * 24 // 1000}kB:{threads}"
        rates = []
        for kernel in self.options.kernel.split(","):
            # Not all of its kernels run on each processor.
            text = subprocess.run(
                ["likwid-bench", "-t", kernel, "-s", "1", "-W", size], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
            rates += re.findall(r"^MByte/s:\s*([0-9.]+)", text, re.M)
        if not rates:
            sys.exit(f"peers.py: error: likwid-bench runs none of {self.options.kernel}")
        return max(map(float, rates)) / 1000

    def mpgrun(self, program, *options):
        return get_processor_seconds(
            [self.bin / "mpgrun", "--mode=none", *options, *program])


def verdict(kind, low, high):
    if kind == "profile":
        return "yes" if high <= 1.02 else "no" if low > 1.02 else "undecided"
    within = {"latency": 0.05, "triad": 0.03}[kind]
    if low >= 1 - within and high <= 1 + within:
        return "yes"
    return "no" if low > 1 + within or high < 1 - within else "undecided"


def busy_seconds():
    """CPU time of the whole machine, waiting not counted."""
    fields = [int(word) for word in open("/proc/stat").readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main():
    options = parse(__doc__, build=str(BUILD), multichase={},
                    kernel={"default": "stream_mem_avx_fma,stream_mem_avx512",
                            "help": "of likwid-bench; mpgbench's has stores past the caches"},
                    minutes=5.9,
                    only={"action": "append", "choices": ["latency", "triad", "profile"]})
    os.environ["OMP_NUM_THREADS"] = "2"
    if os.geteuid() == 0:
        os.nice(-20)
    start, busy, own = time.time(), busy_seconds(), own_seconds()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        found = {key: [] for key in bench.points}
        longest = rounds = 0
        while not rounds or time.time() - start + longest < options.minutes * 60:
            began = time.time()
            for key in random.sample(list(bench.points), len(bench.points)):
                values = [0.0, 0.0]
                for which in random.sample([0, 1], 2):
                    values[which] = bench.points[key][which]()
                found[key].append(values)
            rounds += 1
            longest = max(longest, time.time() - began)
    seconds = time.time() - start
    others = max(0, busy_seconds() - busy - own_seconds() + own) / seconds
    print(f"{rounds} rounds in {seconds:.0f} s; others used {others:.2f} CPUs"
          + ("; BUSY: no verdict holds" if others > 0.1 else ""))
    for (kind, name), pairs in found.items():
        ratios = [ours / theirs for theirs, ours in pairs]
        low, high = get_median_interval(ratios)
        theirs, ours = (statistics.median(column) for column in zip(*pairs))
        print(f"{kind:8} {name:20} {theirs:9.3f} {ours:9.3f}  "
              f"{statistics.median(ratios):.3f}x [{low:.3f}, {high:.3f}]  "
              + (verdict(kind, low, high) if rounds >= 6 else "too few rounds"))


main()
