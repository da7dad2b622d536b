#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The misses of A64FX's caches that no prefetch has foreseen, with --mpg-prefetch=far and
without, modelled by mpgsim.

The kernels of prefetch_misses.c use arrays of 16 MiB. Misses are those of the second call of a
kernel, for 1,000 lines of an array. The model has no time: a line is there once it is prefetched,
so with its prefetchers on, A64FX misses nothing of a stream in any case. Both programs run without
them as well.
"""

import pathlib
import re
import tempfile
from typing import List

from measuring import BUILD, REPO, build_pair, model, parse

KERNELS = ["triad", "stencil", "spmv", "embedding", "column"]
ARRAY_LINES = 1448 * 1448 * 8 / 256


def misses(build: pathlib.Path, program: pathlib.Path, machine: str, kernel: str) -> List[float]:
    """Of L1 and L2 on demand, and lines read from memory."""
    counts: List[List[int]] = []
    for times in (1, 2):
        page = model(build, program, f"--machine={machine}", kernel, str(times))["pages"][0]
        counts.append([page["demandMisses"]["L1D"][0], page["demandMisses"]["L2"][0],
                       page["linesRead"][0]])
    return [1000 * (second - first) / ARRAY_LINES for first, second in zip(*counts)]


def main() -> None:
    options = parse(__doc__, build=BUILD, only={"choices": KERNELS})
    print("| loop | demand misses of L1, L2 | with --mpg-prefetch=far | without the hardware's "
          "| with --mpg-prefetch=far alone | lines read |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        programs = build_pair(options.build, __file__, folder, ["--mpg-sim"],
                              "--mpg-prefetch=far")
        bare = pathlib.Path(folder) / "bare.yaml"
        text = (REPO / "lib/Machines/a64fx.yaml").read_text(encoding="utf-8")
        bare.write_text(re.sub(r"\nprefetchers:\n( .*\n)+", "\n", text), encoding="utf-8")
        for kernel in KERNELS if not options.only else [options.only]:
            rows = [misses(options.build, program, machine, kernel)
                    for machine in ("a64fx", str(bare)) for program in programs]
            print(f"| {kernel} | " + " | ".join(f"{row[0]:.0f}, {row[1]:.0f}" for row in rows) +
                  f" | {rows[3][2] / rows[2][2]:.3f} |")


main()
