#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --mpg-stream-stores wins in large arrays on this machine, and costs in small ones.

For each size of an array, by one thread and by all: how many times faster the loops of
stream_loops.c are with the option. In a round the two kinds of a loop take turns; each has the
shortest of --runs times of the processors (load of others counts less). The table has the median of the rounds' ratios,
and the interval in which it lies with 95 % confidence (order statistics; from 6 rounds on).
One thread stays on the last processor. --fifo gives it real-time priority there (root): others wait meanwhile.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
from typing import Dict, List

from measuring import BUILD, get_median_interval, machine, parse

HERE = pathlib.Path(__file__).resolve().parent


def build(compiler: pathlib.Path, folder: pathlib.Path, flags: List[str], openmp: List[str]) -> pathlib.Path:
    objects = []
    for kind, more in (("plain", []), ("stream", ["--mpg-stream-stores"])):
        objects.append(folder / f"{kind}.o")
        subprocess.run([compiler, *flags, *openmp, *more, f"-DNAME(loop)={kind}_##loop", "-c",
                        HERE / "stream_loops.c", "-o", objects[-1]], check=True)
    program = folder / "measure"
    subprocess.run([compiler, "-O1", "--mpg-runtime=no", *openmp, HERE / "stream_stores.c",
                    *objects, "-o", program], check=True)
    return program


def pin(fifo: bool) -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def describe(ratios: List[float]) -> str:
    text = f"{statistics.median(ratios):.3f}x"
    return text + (" [{:.3f}, {:.3f}]".format(*get_median_interval(ratios)) if len(ratios) >= 6 else "")


def measure(program: pathlib.Path, mib: float, threads: str, options: argparse.Namespace) -> Dict[str, List[float]]:
    """The ratios of each loop, of all rounds."""
    text = subprocess.run([program, str(mib), str(options.rounds), str(options.runs)], check=True,
                          capture_output=True, text=True, env={**os.environ, "OMP_WAIT_POLICY": "passive"},
                          preexec_fn=(lambda: pin(options.fifo)) if threads == "1" else None).stdout
    ratios: Dict[str, List[float]] = {}
    for line in text.splitlines():
        name, plain, stream = line.split()
        ratios.setdefault(name, []).append(float(plain) / float(stream))
    return ratios


def main() -> None:
    options = parse(__doc__, build=BUILD,
                    mib={"type": float, "nargs": "+", "default": [0.0625, 0.5, 1, 16, 512]},
                    threads={"choices": ["1", "all"], "nargs": "+", "default": ["1", "all"]},
                    rounds=7, runs=3, fifo=False,
                    flags={"default": "-O2", "help": "of the compiler; default: -O2"})
    print(f"machine: {machine()}; load {os.getloadavg()[0]:.0f}; {options.flags}; "
          f"{options.rounds} rounds of {options.runs}\n")
    print("| MiB of an array | threads | scale | add | triad | stencil |\n|---|---|---|---|---|---|")
    for threads in options.threads:
        with tempfile.TemporaryDirectory() as folder:
            program = build(options.build / "bin/mpg-clang", pathlib.Path(folder),
                            options.flags.split(), [] if threads == "1" else ["-fopenmp"])
            for mib in options.mib:
                ratios = measure(program, mib, threads, options)
                print(f"| {mib:g} | {threads} | " +
                      " | ".join(describe(loop) for loop in ratios.values()) + " |", flush=True)


main()
