#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpgsim beside counters of A64FX that are published.

The kernels of sim_published.c are written from the descriptions of RIKEN-RCCS's
A64FX_Tuning_Documents, and the counters are those of the reports there (12 threads, one core group,
pages of 2 MiB): axhelm 0 to 2, which differ in instructions and not in arrays, and ffx 0 and 1.
ffx 1 has 53 loads and 4 stores in 8 cells: vectors over the cells, two of a stream at a time. ffx 0
has 4 loads and 4 stores in each cell: it gathers a cell's particles, and moments() does not.
How the arrays lie to each other is not published, and decides which of them meet in a set of the
first cache: so the model has them in --places ways, and the ratios have a min and a max.
Modelled counts are the difference of --calls extra calls, so they exclude the code before the kernel;
both are for one call. Compiled for 512-bit vectors of x86, as wide as SVE's there.
"""

import os
import pathlib
import subprocess
import tempfile
from typing import Dict, List, NamedTuple

from measuring import BUILD, model, parse

THREADS = 12


class Published(NamedTuple):
    """Sums over the threads; the memory's are the group's, which each thread counts."""
    name: str
    kernel: str
    calls: int
    l1_misses: int
    l1_tlb_misses: int
    l2_tlb_misses: int
    memory_reads: int
    memory_writes: int


PUBLISHED = [
    Published("axhelm 0", "helmholtz", 100, 27785951, 2382, 2, 328721261, 36949346),
    Published("axhelm 1", "helmholtz", 100, 29686085, 2393, 2, 323024276, 36967205),
    Published("axhelm 2", "helmholtz", 100, 28482471, 2377, 2, 317859305, 36989795),
    Published("ffx 0", "moments", 1000, 1533368686, 7228699830, 409, 16152432985,
              3373710866),
    Published("ffx 1", "pairs", 1000, 1386078189, 2304521770, 409, 16091139769,
              3373920428),
]


def build(mpg_clang: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    program = work / "sim_published"
    subprocess.run([mpg_clang, "-O3", "-g1", "-march=x86-64-v4",
                    "-mprefer-vector-width=512", "-fopenmp", "--mpg-sim",
                    pathlib.Path(__file__).with_suffix(".c"), "-o", program],
                   check=True)
    return program


def run(build: pathlib.Path, program: pathlib.Path, kernel: str, calls: int,
        place: int) -> Dict[str, int]:
    """The counts of the whole run."""
    # Threads that wait must not take the processors of those that work.
    environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), OMP_WAIT_POLICY="passive")
    page = model(build, program, kernel, str(calls), str(place), env=environment)["pages"][0]
    return {"l1_misses": page["cacheMisses"]["L1D"][0],
            "l1_tlb_misses": page["tlbMisses"]["L1 DTLB"],
            "l2_tlb_misses": page["tlbMisses"]["L2 DTLB"],
            "memory_reads": page["linesRead"][0],
            "memory_writes": page["linesWritten"][0]}


def rows(modelled: Dict[str, List[Dict[str, float]]]) -> List[str]:
    table = ["| program | counter | published, a call | modelled / published |",
             "|---|---|---|---|"]
    for program in PUBLISHED:
        for counter in Published._fields[3:]:
            shared = THREADS if counter.startswith("memory") else 1
            published = getattr(program, counter) / shared / program.calls
            if getattr(program, counter) < 1000 * program.calls:
                continue  # TLB misses of the start
            ratios = [counts[counter] / published for counts in modelled[program.kernel]]
            table.append(f"| {program.name} | {counter.replace('_', ' ')} | {published:,.0f} | "
                         f"{min(ratios):.3f} to {max(ratios):.3f} |")
    return table


def main() -> None:
    options = parse(__doc__, build=BUILD, calls=4, places=8)
    modelled: Dict[str, List[Dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        program = build(options.build / "bin/mpg-clang", pathlib.Path(folder))
        for kernel in ("helmholtz", "moments", "pairs"):
            modelled[kernel] = []
            for place in range(options.places):
                few, many = (run(options.build, program, kernel, calls, place)
                             for calls in (2, 2 + options.calls))
                modelled[kernel].append({name: (many[name] - few[name]) / options.calls
                                         for name in many})
    print("\n".join(rows(modelled)))


main()
