#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --mpg-sector=auto saves of the traffic with memory on A64FX, modelled by mpgsim.

The nests of sector_auto.c: products of 60 sparse matrices of five kinds (seeds 1 to 12; the vector
has 0.5 to 7.2 MiB), a table beside a stream, embeddings, and kernels as PolyBench has. Each is
modelled undivided and with 1, 2, 4, 7 and 10 of 14 ways for its streams, beside which the others
may fill all 14, as the compiler sets them. `auto` is the quota that the program sets by itself, if
any; `best` is the best quota of all, found by trying. Both are times of the traffic: 1.10x is a
tenth more of it without a division. Time: what the traffic takes at the roofs of the machine's
file; with one thread waiting counts as well, which is not modelled.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
from typing import Dict, List, NamedTuple, Optional, Tuple

from measuring import BUILD, parse

SOURCE = pathlib.Path(__file__).with_suffix(".c")
SAID = re.compile(r"sector_auto\.c:(\d+):\d+: remark: sector 1 gets \d+ of 14 ways of L2 for "
                  r"(\w+(?:, \w+)*), used once")
ROWS = [65536, 100000, 131072, 200000, 262144, 300000, 400000, 500000, 600000, 680000, 750000,
        900000]
KINDS = ["banded", "random", "block", "power", "fem"]
# Streams to try; the compiler's own are added.
TRIED = {"matrix": ["values,columns"], "gather": ["stream,at"], "pairs": ["stream,at"],
         "embedding": ["out"],
         "product": ["a"], "transposed": ["a"], "gemm": ["b", "c"], "jacobi": ["b"]}


class Case(NamedTuple):
    kernel: str
    kind: str
    first: int
    second: int
    threads: int = 1
    seed: int = 1

    def text(self) -> str:
        return f"{self.kernel} {self.kind} {self.first} {self.second}, {self.threads} threads"


def all_cases() -> List[Case]:
    cases = [Case("matrix", kind, rows, max(3, 2500000 // rows), 12, seed)
             for kind in KINDS for seed, rows in enumerate(ROWS, 1)]
    cases += [Case(kernel, "-", size << 19, 4 << 20, threads) for kernel in ("gather", "pairs")
              for threads in (1, 12) for size in (1, 2, 4, 8, 12)]
    cases += [Case("embedding", str(width), (size << 20) // (4 * width), (24 << 20) // (4 * width),
                   threads)
              for threads in (1, 12) for width in (64, 1024) for size in (2, 4, 5)]
    cases += [Case(kernel, "-", *shape) for kernel in ("product", "transposed")
              for shape in ((6, 500000), (8, 650000), (40, 100000), (2000, 2000))]
    cases += [Case("gemm", "-", n, 0) for n in (256, 512)]
    return cases + [Case("jacobi", "-", 1500, 0)]


def build(folder: pathlib.Path, program: pathlib.Path, threads: bool) -> Dict[str, str]:
    """Compiles; the streams of each kernel's nest."""
    done = subprocess.run(
        [folder / "bin/mpg-clang", "-O2", "-g", "--mpg-sim", "--mpg-sector=auto", "-Rpass=mpg",
         *(["-fopenmp"] if threads else []), SOURCE, "-o", program],
        check=True, stderr=subprocess.PIPE, text=True)
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    streams = {}
    for line, names in SAID.findall(done.stderr):
        for near in lines[int(line) - 1:int(line) + 1]:
            if "{ // " in near or ") // " in near:
                streams.setdefault(near.split("// ")[1], names.replace(" ", ""))
    return streams


def model(folder: pathlib.Path, program: pathlib.Path, pages: str, case: Case,
          streams: str) -> Tuple[Dict[int, Tuple[int, int]], Optional[int]]:
    """Lines read and written with each quota, and the quota that the program sets."""
    output, machine = program.with_suffix(".json"), program.with_suffix(".yaml")
    machine.write_text((folder / "share/mpgtools/machines/a64fx.yaml").read_text(encoding="utf-8")
                       .replace("limitsSector0: true", "limitsSector0: false"), encoding="utf-8")
    done = subprocess.run(
        [folder / "bin/mpgsim", f"--machine={machine}", f"--pages={pages}", "--sample", "--cold", f"--stream={streams}",
         "--json", f"--output={output}", program, case.kernel, case.kind, str(case.first),
         str(case.second), str(case.seed)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": str(case.threads)})
    lines = {}
    for quota in json.loads(output.read_text(encoding="utf-8"))["sectors"]["quotas"]:
        page = quota["pages"][0]
        lines[quota["sector1Ways"]] = (page["linesRead"][0], page["linesWritten"][0])
    ways = re.search(r"^ways: (\d+)$", done.stderr, re.MULTILINE)
    return lines, int(ways.group(1)) if ways else None


def seconds(lines: Tuple[int, int]) -> float:
    """At the roofs of one group: 256 GB/s read, 128 GB/s written."""
    return 256 * (lines[0] / 256e9 + lines[1] / 128e9)


class Gain(NamedTuple):
    auto: float
    best: float
    time: float
    worst: float


def compare(folder: pathlib.Path, program: pathlib.Path, pages: str, case: Case,
            own: Optional[str]) -> Tuple[Gain, Optional[int]]:
    sets = [*([own] if own else []), *TRIED[case.kernel]]
    best, auto, time, worst, ways = 1.0, 1.0, 1.0, 1.0, None
    for streams in dict.fromkeys(",".join(sorted(one.split(","))) for one in sets):
        lines, asked = model(folder, program, pages, case, streams)
        without = sum(lines[0])
        best = max([best, *(without / sum(one) for one in lines.values())])
        worst = min([worst, *(without / sum(one) for one in lines.values())])
        if asked and own and streams == ",".join(sorted(own.split(","))):
            ways, auto = asked, without / sum(lines[asked])
            time = seconds(lines[0]) / seconds(lines[asked])
    return Gain(auto, best, time, worst), ways


def main() -> None:
    options = parse(__doc__, build=BUILD, only={"choices": sorted(TRIED)},
                    cases={"type": int, "help": "the first so many"},
                    pages={"default": "2M", "help": "such as 64K, at random places of memory"})
    cases = [one for one in all_cases() if not options.only or one.kernel == options.only]
    print("| nest | auto: ways | auto | best | worst | time of auto |\n|---|---|---|---|---|---|")
    gains: List[Gain] = []
    with tempfile.TemporaryDirectory() as work:
        programs = {threads: pathlib.Path(work) / f"team{threads}" for threads in (False, True)}
        streams = {threads: build(options.build, program, threads)
                   for threads, program in programs.items()}
        for case in cases[:options.cases]:
            team = case.threads > 1
            gain, ways = compare(options.build, programs[team], options.pages, case,
                                 streams[team].get(case.kernel))
            gains.append(gain)
            print(f"| {case.text()} | {ways or '-'} | {gain.auto:.3f}x | {gain.best:.3f}x | "
                  f"{gain.worst:.2f}x | {gain.time:.3f}x |", flush=True)
    won = sum(gain.auto - 1 for gain in gains)
    possible = sum(gain.best - 1 for gain in gains)
    print(f"{len(gains)} nests: auto is never below {min(gain.auto for gain in gains):.3f}x, and "
          f"has {100 * won / possible if possible else 100:.0f} % of what the best quotas gain")


main()
