#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mpgsim beside counters of A64FX that are published.

The kernels of sim_published.c are written from published descriptions, and the counters are those
of the reports beside them, with pages of 2 MiB. RIKEN-RCCS's A64FX_Tuning_Documents: 12 threads of
one core group. axhelm 0 to 3 differ in instructions and not in arrays. ffx 1 has 53 loads and 4
stores in 8 cells: vectors over the cells. That pairs() takes two of a stream at a time is a guess,
which decides its L1 TLB misses. ffx 0 has 4 loads and 4 stores in each cell: it gathers a cell's
particles, and moments() does not. lighttransport/gemm, a64fx/sector-cache: one thread, the regions
without sectors. A call is a whole region, but a quarter of one of the 14 passes of `gather`. Its
published code writes 41.8 M lines back from L1, which the loop as described does not.
The model was fitted to axhelm 0 to 2, ffx 0 and 1, and to none of the others.
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
# The bands of share/mpgtools/machines/a64fx.yaml.
BANDS = {"l1_misses": "L1D", "l1_tlb_misses": "L1 DTLB", "l2_tlb_misses": "L2 DTLB",
         "memory_reads": "memory", "memory_writes": "memory"}


class Published(NamedTuple):
    """Sums over the threads; the memory's are the group's, which each thread counts. 0: none."""
    name: str
    kernel: str
    calls: int
    l1_misses: int
    l1_tlb_misses: int = 0
    l2_tlb_misses: int = 0
    memory_reads: int = 0
    memory_writes: int = 0


FITTED = [
    Published("axhelm 0", "helmholtz", 100, 27785951, 2382, 2, 328721261, 36949346),
    Published("axhelm 1", "helmholtz", 100, 29686085, 2393, 2, 323024276, 36967205),
    Published("axhelm 2", "helmholtz", 100, 28482471, 2377, 2, 317859305, 36989795),
    Published("ffx 0", "moments", 1000, 1533368686, 7228699830, 409, 16152432985,
              3373710866),
    Published("ffx 1", "pairs", 1000, 1386078189, 2304521770, 409, 16091139769,
              3373920428),
]
JUDGED = [
    Published("axhelm 1a", "helmholtz", 100, 28529432, 2364, 1, 320654372, 36968344),
    Published("axhelm 3", "helmholtz", 100, 28269888, 2326, 1, 331892150, 36975563),
    Published("triadt 1", "triad", 1000000, 19164882428, 9104, 45, 1151916, 491164),
    Published("nbody 2", "bodies", 1000, 3597816, 3122, 23, 1773487, 192864),
    Published("stream", "stream", 1, 205830),
    Published("reuse", "reuse", 1, 113401),
    Published("conflict", "conflict", 2, 520135),
    Published("gather", "gather", 4 * 14, 507000000),
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


def published_counters(program: Published) -> Dict[str, float]:
    """Of one call; without those of the start alone."""
    shared = {name: THREADS if name.startswith("memory") else 1 for name in Published._fields[3:]}
    of_call = {name: getattr(program, name) / by / program.calls for name, by in shared.items()}
    return {name: count for name, count in of_call.items() if count >= 1000}


def rows(programs: List[Published], modelled: Dict[str, List[Dict[str, float]]]) -> List[str]:
    table = ["| program | counter | published, a call | modelled / published | used to fit |",
             "|---|---|---|---|---|"]
    bands: Dict[str, List[float]] = {}
    for program in programs:
        for counter, published in published_counters(program).items():
            ratios = [counts[counter] / published for counts in modelled[program.kernel]]
            bands.setdefault(BANDS[counter], []).extend(ratios)
            table.append(f"| {program.name} | {counter.replace('_', ' ')} | {published:,.0f} | "
                         f"{min(ratios):.3f} to {max(ratios):.3f} | "
                         f"{'yes' if program in FITTED else 'no'} |")
    return table + [f"band of {name}: {min(ratios):.3f} to {max(ratios):.3f}"
                    for name, ratios in bands.items()]


def main() -> None:
    options = parse(__doc__, build=BUILD, calls=4, places=8, only="")
    programs = [program for program in FITTED + JUDGED if options.only in program.name]
    modelled: Dict[str, List[Dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        binary = build(options.build / "bin/mpg-clang", pathlib.Path(folder))
        for kernel in {program.kernel for program in programs}:
            modelled[kernel] = []
            for place in range(options.places):
                few, many = (run(options.build, binary, kernel, calls, place)
                             for calls in (2, 2 + options.calls))
                modelled[kernel].append({name: (many[name] - few[name]) / options.calls
                                         for name in many})
    print("\n".join(rows(programs, modelled)))


main()
