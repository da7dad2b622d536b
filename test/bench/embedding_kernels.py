#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The embedding lookup of libmpg beside what people write, on this machine.

Tables of 151,936 rows of f32 (fewer where they would exceed 1.2 GB) on
transparent large pages, uniform and Zipf (exponent 1) indices, 1 and 2 threads;
calls of 65,536 rows (of 64 MiB of output at most) and of 2,048. Peers: one
memcpy for each row; the same with the next row's start prefetched; two loops as
the compiler makes them at -O3 -march=native (gcc makes calls of memcpy again).

All run in turn, in an order drawn anew for each round, on indices drawn anew.
A figure is the median of the ratios of a round's two times, with its 95 %
interval by rank: a round in which somebody else had the processor does not move
it. Bars, against the memcpy loop: at least 0.97 times as fast, met if the good
end of the interval reaches it and the median is within 5 % of it; for rows up to
1 KiB ahead, met if the whole interval is.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

from measuring import machine, parse

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "..", "..", "runtime")
DIMS = [16, 32, 64, 128, 256, 1024, 4096]
VOCABULARY, TABLE_BYTES, OUTPUT_BYTES = 151936, 1_200_000_000, 64 << 20
LONG_CALL, SHORT_CALL = 65536, 2048
LEAST_ROWS = 16384  # different ones in a round, in as many calls as it takes
ROUND_BYTES = 250_000_000  # read and written: some milliseconds
BAR, WITHIN, AHEAD_BYTES = 0.97, 0.95, 1024


class Ratio(NamedTuple):
    """A median with its 95 % interval: the ranks of the binomial distribution."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(ratios: list[float]) -> Ratio:
        ordered = sorted(ratios)
        rank = max(1, math.floor((len(ordered) - 1.96 * math.sqrt(len(ordered))) / 2))
        return Ratio(ordered[rank - 1], statistics.median(ordered), ordered[-rank])

    def __str__(self) -> str:
        return f"{self.median:5.2f} [{self.low:.2f}, {self.high:.2f}]"


class Case(NamedTuple):
    """One table, one kind of call."""

    dim: int
    tokens: int
    threads: int
    spread: str

    @property
    def row_bytes(self) -> int:
        return 4 * self.dim

    @property
    def rows(self) -> int:
        return min(VOCABULARY, TABLE_BYTES // self.row_bytes)

    @property
    def calls(self) -> int:
        wanted = min(LEAST_ROWS, OUTPUT_BYTES // self.row_bytes)
        return max(1, wanted // self.tokens)

    @property
    def passes(self) -> int:
        return 1 + ROUND_BYTES // (2 * self.row_bytes * self.tokens * self.calls)


def plan(dims: list[int], max_threads: int) -> list[Case]:
    cases = []
    for dim in dims:
        longest = min(LONG_CALL, OUTPUT_BYTES // (4 * dim))
        for tokens in sorted({longest, min(SHORT_CALL, longest)}, reverse=True):
            for spread in ("uniform", "zipf"):
                for threads in range(1, max_threads + 1):
                    cases.append(Case(dim, tokens, threads, spread))
    return cases


def build(folder: str, library: str, compiler: str) -> str:
    """The benchmark, linked with libmpg's archive."""
    kernels = os.path.join(HERE, "kernels")
    program = os.path.join(folder, "embedding_bench")
    command = [compiler, "-O3", "-march=native", "-pthread"]
    command += ["-I", os.path.join(RUNTIME, "include"), "-o", program]
    command += [os.path.join(kernels, "embedding_bench.c")]
    command += [os.path.join(kernels, "embedding_peers.c"), library, "-lm"]
    subprocess.run(command, check=True)
    return program


def run(program: str, case: Case, rounds: int) -> tuple[str, dict[str, list[float]]]:
    """The machine, and the seconds of each candidate in each round."""
    numbers = [case.dim, case.rows, case.tokens, case.calls, case.passes, case.threads]
    command = [program, *map(str, numbers), case.spread, str(rounds)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = text.splitlines()
    names = lines[1].split("\t")
    rows = [list(map(float, line.split("\t"))) for line in lines[2:]]
    return lines[0], {name: [row[i] for row in rows] for i, name in enumerate(names)}


def judge(case: Case, times: dict[str, list[float]]) -> bool:
    """Prints the case's line; whether its bars are met."""
    ours = times["mpg"]
    bytes_moved = 2.0 * case.row_bytes * case.tokens * case.calls * case.passes
    ratios = {  # of the speeds: above 1 is ahead
        name: Ratio.of([b / a for a, b in zip(ours, times[name])])
        for name in list(times)[1:]
    }
    bar = ratios["memcpy"]
    met = bar.high >= BAR and bar.median >= BAR * WITHIN
    if case.row_bytes <= AHEAD_BYTES:
        met = bar.low > 1
    best = bytes_moved / min(ours) * 1e-9
    middle = bytes_moved / statistics.median(ours) * 1e-9
    worst = bytes_moved / max(ours) * 1e-9
    print(
        f"{case.dim:5} {case.tokens:6} {case.threads:2} {case.spread:8}"
        f"{middle:7.1f} {worst:6.1f}..{best:<6.1f} " + "  ".join(map(str, ratios.values())) +
        ("" if met else "  MISSED"),
        flush=True,
    )
    return met


def main() -> int:
    arguments = parse(__doc__,
                      library={"default": os.path.join(HERE, "..", "..", "build", "lib", "libmpgrt.a"),
                               "help": "libmpgrt.a"},
                      compiler="gcc", rounds=61, threads=min(2, os.cpu_count() or 1),
                      dims=",".join(map(str, DIMS)))
    dims = [int(dim) for dim in arguments.dims.split(",")]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, arguments.library, arguments.compiler)
        print(machine())
        print(f"{arguments.rounds} rounds; GB/s: read and written, median, range of "
              "all rounds; then speed against each peer")
        print("  dim   rows  t indices    GB/s           "
              "memcpy loop        memcpy + prefetch  compiler's loop")
        for case in plan(dims, arguments.threads):
            where, times = run(program, case, arguments.rounds)
            if case.tokens > SHORT_CALL and case.spread == "uniform" and (case.threads == 1):
                print(f"-- {case.rows} rows of {case.row_bytes} bytes; {where} large")
            missed += not judge(case, times)
    print(f"{missed} missed" if missed else "all bars met")
    return 1 if missed else 0


sys.exit(main())
