#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of a thread with libmpg, and without it.

Builds threads.c and runs it in turn without and with libmpg, for threads without
attributes and for stacks of 128 KiB and 8 MiB: the processor time to create and join one
(10,000 in a row; the least and the median of all runs), and the memory that each
of 1,000 takes. Needs gcc.
"""

import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

from measuring import LIBRARY, parse

BENCH = pathlib.Path(__file__).resolve().parent
SIZES = {"default": 0, "128 KiB": 128 << 10, "8 MiB": 8 << 20}


def run(program: str, use: str, count: int, stack: int, library: str) -> float:
    environment = {"PATH": os.environ["PATH"]}
    if library:
        environment["LD_PRELOAD"] = library
    done = subprocess.run([program, use, str(count), str(stack)], env=environment,
                          stdout=subprocess.PIPE, check=True)
    return float(done.stdout)


def main() -> int:
    options = parse(__doc__, library=LIBRARY, pairs=30)
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "threads")
        subprocess.run(["gcc", "-O2", "-pthread", BENCH / "threads.c", "-o", program], check=True)
        print(f"{platform.machine()}, Linux {platform.release()}, "
              f"{os.cpu_count()} CPUs, {options.pairs} pairs")
        for name, stack in SIZES.items():
            pairs = [[run(program, "turns", 10000, stack, library)
                      for library in ("", options.library)]
                     for _ in range(options.pairs)]
            columns = list(zip(*pairs))
            plain, ours = (min(column) for column in columns)
            medians = [statistics.median(column) for column in columns]
            memory = [run(program, "crowd", 1000, stack, library)
                      for library in ("", options.library)]
            print(f"{name}: {plain:.1f} us without, {ours:.1f} with libmpg "
                  f"({ours / plain:.3f}; medians {medians[1] / medians[0]:.3f}); "
                  f"{memory[0]:.0f} and {memory[1]:.0f} KiB a thread")
    return 0


sys.exit(main())
