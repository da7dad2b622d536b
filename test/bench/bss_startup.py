#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What 252 MiB more of .bss cost at start-up when its pages come on demand.

    bss_startup.py [--library LIBMPG.SO] [--pairs N]

Builds test/runtime/Inputs/regions.c twice, runs both in turn with libmpg on the
pool of large pages (200 pages), and compares the times from before the start to
the first line of main, pair by pair. Prints medians, quartiles of the difference,
and the machine. Needs gcc and the pool.
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

TEST = pathlib.Path(__file__).resolve().parents[1]
INPUTS = TEST / "runtime" / "Inputs"


def build(folder: str, bss_mib: int) -> str:
    data, program = os.path.join(folder, "data"), os.path.join(folder, f"bss{bss_mib}")
    if not os.path.exists(data + ".s"):
        subprocess.run([sys.executable, INPUTS / "make_data.py", "64", "10", data], check=True)
    subprocess.run(["gcc", "-O1", f"-DBSS_MIB={bss_mib}", INPUTS / "regions.c",
                    data + ".s", "-o", program], check=True)
    return program


def milliseconds(program: str, environment: dict) -> float:
    start = time.monotonic_ns()
    done = subprocess.run([program, "time"], stdout=subprocess.PIPE, check=True, env=environment)
    return (int(done.stdout) - start) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default=str(TEST.parent / "build/lib/libmpgrt.so"))
    parser.add_argument("--pairs", type=int, default=30)
    options = parser.parse_args()
    environment = {
        "PATH": os.environ["PATH"],
        "LD_PRELOAD": options.library,
        "MPG_MODE": "hugetlb",
        "XOS_MMM_L_LPG_MODE": "base",
        "XOS_MMM_L_PAGING_POLICY": "demand:demand:prepage",
    }
    with tempfile.TemporaryDirectory() as folder:
        programs = [build(folder, mib) for mib in (4, 256)]
        times = [[milliseconds(program, environment) for program in programs]
                 for _ in range(options.pairs + 1)][1:]  # the first reads the files
    differences = sorted(large - small for small, large in times)
    print(f"4 MiB {statistics.median(small for small, _ in times):.1f} ms, "
          f"256 MiB {statistics.median(large for _, large in times):.1f} ms, "
          f"difference {statistics.median(differences):.2f} ms "
          f"(quartiles {differences[options.pairs // 4]:.2f} and "
          f"{differences[options.pairs * 3 // 4]:.2f}, {options.pairs} pairs; "
          f"{os.cpu_count()} CPUs, Linux {platform.release()})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
