#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --mpg-stream-stores wins in large arrays on this machine, and costs in small ones.

  stream_stores.py [--build DIR] [--mib MIB ...] [--runs N] [--flags=FLAGS]

For each size of an array, by one thread and by all: how many times faster the loops of
stream_loops.c are with the option. A time is the shortest of N, of the processors (load of others
counts less), and the two kinds of a loop take turns.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
from typing import List

from mpgaudit_speed import describe_machine

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--mib", type=float, nargs="+", default=[0.0625, 0.5, 1, 16, 512])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--flags", default="-O2", help="of the compiler; default: -O2")
    options = parser.parse_args()
    print(f"machine: {describe_machine()}; {options.flags}\n")
    print("| MiB of an array | threads | scale | add | triad | stencil |\n|---|---|---|---|---|---|")
    for threads, openmp in (("1", []), ("all", ["-fopenmp"])):
        with tempfile.TemporaryDirectory() as folder:
            program = build(options.build / "bin/mpg-clang", pathlib.Path(folder),
                            options.flags.split(), openmp)
            for mib in options.mib:
                text = subprocess.run([program, str(mib), str(options.runs)], check=True,
                                      capture_output=True, text=True,
                                      env={**os.environ, "OMP_WAIT_POLICY": "passive"}).stdout
                ratios = [float(plain) / float(stream) for _, plain, stream in
                          (line.split() for line in text.splitlines())]
                print(f"| {mib:g} | {threads} | " +
                      " | ".join(f"{ratio:.2f}x" for ratio in ratios) + " |", flush=True)


if __name__ == "__main__":
    main()
