#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpgsim --engine=qemu beside the compiled engine and QEMU's own cache plugin.

Counts: each kernel of sim_qemu.c, compiled for AArch64 with NEON by the same
compiler with and without --mpg-sim, the first run by plain qemu; accesses and
misses of A64FX with pages of 64 KiB. Time, with --cache (contrib/plugins/cache.c
of the same QEMU): processor time of mpgsim with pages of 64 KiB and 2 MiB, and of
qemu with that plugin as two levels of A64FX, in turn; medians. Both are of many
rounds less those of few, which leaves out the start and the libraries.
"""

import argparse
import csv
import io
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import Dict, List

from measuring import BUILD, get_processor_seconds, parse

KERNELS = {"triad": (1, 17), "lookup": (1, 17), "sparse": (1, 9),
           "product": (1, 3), "threads": (1, 17)}  # rounds
COUNTS = ("accesses", "L1 DTLB misses", "L2 DTLB misses", "L1D misses min", "L2 misses min")
# Of counts as large as this; smaller ones are the start's.
LEAST = 10000
WANTED_PERCENT, WANTED_SPEED = 1.0, 0.5
CACHE = ("dcachesize=65536,dassoc=4,dblksize=256,l2=on,l2cachesize=8388608,"
         "l2assoc=16,l2blksize=256,evict=lru")


def build(options: argparse.Namespace, work: pathlib.Path) -> None:
    source = str(pathlib.Path(__file__).with_suffix(".c"))
    compiler = [str(options.build / "bin/mpg-clang"), "-O3", "-g1",
                "--target=aarch64-linux-gnu", "-c", source, "-o"]
    archives = options.build / "aarch64/lib"
    for name, flags, libraries in (
            ("plain", [], []),
            ("sim", ["--mpg-sim"],
             ["-Wl,-u,mpg_sim_threads", str(archives / "libmpgsim-threads.a"),
              str(archives / "libmpgsim.a")])):
        subprocess.run([*compiler, str(work / f"{name}.o"), *flags], check=True)
        subprocess.run(["aarch64-linux-gnu-gcc", str(work / f"{name}.o"), "-o",
                        str(work / name), *libraries, "-pthread"], check=True)


def counts(command: List[str], kernel: str) -> Dict[str, int]:
    """Of the kernel alone."""
    rows = []
    for rounds in KERNELS[kernel]:
        text = subprocess.run([*command, kernel, str(rounds)], check=True,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True).stderr
        rows.append(next(csv.DictReader(io.StringIO(text))))
    return {name: int(rows[1][name]) - int(rows[0][name]) for name in COUNTS}


def measure(options: argparse.Namespace, work: pathlib.Path) -> int:
    build(options, work)
    os.environ.setdefault("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu")
    mpgsim = [str(options.build / "bin/mpgsim")]
    emulated = ["--engine=qemu", f"--qemu={options.qemu}", str(work / "plain")]
    missed = 0
    for kernel in options.kernel or KERNELS:
        few, many = KERNELS[kernel]
        one = [*mpgsim, "--csv", "--pages=64K"]
        compiled = counts([*one, options.qemu, str(work / "sim")], kernel)
        found = counts([*one, *emulated], kernel)
        for name, value in compiled.items():
            if max(value, found[name]) < LEAST:
                continue
            percent = 100 * (found[name] - value) / max(value, 1)
            missed += abs(percent) > WANTED_PERCENT
            print(f"{kernel}: {name}: compiled {value}, qemu {found[name]} "
                  f"({percent:+.2f} %)", flush=True)
        if not options.cache:
            continue
        commands = {
            "mpgsim": [*mpgsim, "--pages=64K,2M", *emulated],
            "cache": [options.qemu, "-plugin", f"{options.cache},{CACHE}",
                      str(work / "plain")]}
        spent: Dict[str, List[float]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                short = get_processor_seconds([*command, kernel, str(few)])
                spent[name].append(get_processor_seconds([*command, kernel, str(many)]) - short)
        medians = {name: max(statistics.median(all_runs), 1e-9) for name, all_runs in spent.items()}
        ratio = medians["cache"] / medians["mpgsim"]
        missed += ratio < WANTED_SPEED
        print(f"{kernel}: mpgsim {medians['mpgsim']:.2f} s, the cache plugin "
              f"{medians['cache']:.2f} s: {ratio:.2f} times as fast (wanted "
              f"{WANTED_SPEED})", flush=True)
    print(f"sim_qemu: {missed} beyond what is wanted")
    return 1 if missed else 0


def main() -> int:
    options = parse(__doc__, kernel={"action": "append", "choices": KERNELS}, runs=3,
                    qemu="qemu-aarch64", cache="", build=BUILD)
    with tempfile.TemporaryDirectory(prefix="sim-qemu-") as work:
        return measure(options, pathlib.Path(work))


sys.exit(main())
