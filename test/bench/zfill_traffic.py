#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --mpg-zfill saves of a loop's traffic with memory on A64FX, modelled by mpgsim.

  zfill_traffic.py [--build DIR] [--only KERNEL]

The kernels of zfill_traffic.c write arrays of 16 MiB. Lines are those of two more calls of a
kernel, divided by two and by the lines of an array: 1.00 read and 1.00 written is one pass.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
from typing import List, Tuple

REPO = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ["copy", "scale", "add", "triad", "fill", "stencil", "transpose", "axpy"]
ARRAY_LINES = 1448 * 1448 * 8 / 256


def lines(build: pathlib.Path, program: pathlib.Path, kernel: str) -> Tuple[float, float]:
    """Read and written by a call, in arrays."""
    counts: List[Tuple[int, int]] = []
    for times in (2, 4):
        output = program.with_suffix(".json")
        subprocess.run([build / "bin/mpgsim", "--pages=2M", "--json", f"--output={output}",
                        program, kernel, str(times)], check=True,
                       stdout=subprocess.DEVNULL)
        page = json.loads(output.read_text(encoding="utf-8"))["pages"][0]
        counts.append((page["linesRead"][0], page["linesWritten"][0]))
    (read, written), (more_read, more_written) = counts
    return ((more_read - read) / 2 / ARRAY_LINES, (more_written - written) / 2 / ARRAY_LINES)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=REPO / "build")
    parser.add_argument("--only", choices=KERNELS)
    options = parser.parse_args()
    print("| loop | arrays read, written | with --mpg-zfill | traffic |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        programs = [pathlib.Path(folder) / name for name in ("plain", "zfill")]
        for program, more in zip(programs, ([], ["--mpg-zfill"])):
            subprocess.run([options.build / "bin/mpg-clang", "-O2", "--mpg-sim", *more,
                            pathlib.Path(__file__).with_suffix(".c"), "-o", program], check=True)
        for kernel in KERNELS if not options.only else [options.only]:
            (read, written), (less_read, same) = (
                lines(options.build, program, kernel) for program in programs)
            print(f"| {kernel} | {read:.2f}, {written:.2f} | {less_read:.2f}, {same:.2f} | "
                  f"{(less_read + same) / (read + written):.2f} |")


if __name__ == "__main__":
    main()
