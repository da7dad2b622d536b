#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --mpg-zfill saves of a loop's traffic with memory on A64FX, modelled by mpgsim.

The kernels of zfill_traffic.c write arrays of 16 MiB. Lines are those of two more calls of a
kernel, divided by two and by the lines of an array: 1.00 read and 1.00 written is one pass.
"""

import pathlib
import tempfile
from typing import List, Tuple

from measuring import BUILD, build_pair, model, parse

KERNELS = ["copy", "scale", "add", "triad", "fill", "stencil", "transpose", "axpy"]
ARRAY_LINES = 1448 * 1448 * 8 / 256


def lines(build: pathlib.Path, program: pathlib.Path, kernel: str) -> Tuple[float, float]:
    """Read and written by a call, in arrays."""
    counts: List[Tuple[int, int]] = []
    for times in (2, 4):
        page = model(build, program, kernel, str(times))["pages"][0]
        counts.append((page["linesRead"][0], page["linesWritten"][0]))
    (read, written), (more_read, more_written) = counts
    return ((more_read - read) / 2 / ARRAY_LINES, (more_written - written) / 2 / ARRAY_LINES)


def main() -> None:
    options = parse(__doc__, build=BUILD, only={"choices": KERNELS})
    print("| loop | arrays read, written | with --mpg-zfill | traffic |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        programs = build_pair(options.build, __file__, folder, ["--mpg-sim"], "--mpg-zfill")
        for kernel in KERNELS if not options.only else [options.only]:
            (read, written), (less_read, same) = (
                lines(options.build, program, kernel) for program in programs)
            print(f"| {kernel} | {read:.2f}, {written:.2f} | {less_read:.2f}, {same:.2f} | "
                  f"{(less_read + same) / (read + written):.2f} |")


main()
