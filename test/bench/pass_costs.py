#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of the options that change loops: compile time and size of objects.

50 C, C++ and Fortran files of this repository are compiled with -O3: the programs of
test/passes/corpus, the examples, and the benches' kernels. Each option is compared with the plugin
without options. Compile time is user and system time of the compiler; the compiles of a file come
one after the other, with the options in turn, so load meets all of them. The ratio is that of the
sums over all files, its interval the one that holds 95 % of bootstrapped medians of the rounds.
A second table has the text of functions with one nest, of stream_loops.c: with the option, and
how many times that without it.
Status 1: a bar is missed, 1.03x of the time by the median or 1.10x of all objects' bytes.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Dict, List, NamedTuple, Sequence

sys.dont_write_bytecode = True
from measuring import BUILD, REPO, machine, parse

A64FX = ["--target=aarch64-linux-gnu", "-mcpu=a64fx"]
X86 = ["--target=x86_64-linux-gnu"]
BENCHES = ["prefetch_indirect", "prefetch_misses", "sector_auto", "sim_published", "sim_speed",
           "stream_stores", "tag_loops"]
TIME_BAR, SIZE_BAR = 1.03, 1.10


class Option(NamedTuple):
    name: str
    text: str  # in MPG_PASS_OPTIONS
    target: List[str]


OPTIONS = [Option("--mpg-zfill", "zfill=18", A64FX),
           Option("--mpg-prefetch=far", "prefetch=far", A64FX),
           Option("--mpg-sector=auto", "sector=auto", A64FX),
           Option("--mpg-stream-stores", "stream-stores=on", X86),
           Option("--mpg-prefetch-indirect", "prefetch-indirect=32", X86)]


class Cost(NamedTuple):
    seconds: float
    size: int


def find_files(count: int) -> List[pathlib.Path]:
    files = [path for folder in ("test/passes/corpus", "examples")
             for path in sorted((REPO / folder).iterdir())
             if path.suffix in (".c", ".cpp", ".f90")]
    files += [REPO / "test/bench" / f"{name}.c" for name in BENCHES]
    return files[-count:]


def compile_once(source: pathlib.Path, option: Option, plugin: pathlib.Path,
                 folder: str, more: Sequence[str] = ()) -> Cost:
    output = os.path.join(folder, "object.o")
    compiler = "flang-22" if source.suffix == ".f90" else "clang-22"
    command = [compiler, *option.target, "-O3", "-w", "-fopenmp", f"-fpass-plugin={plugin}",
               "-c", str(source), "-o", output, *more]
    if source.suffix != ".f90":
        command += ["-DMPG_HINTS", f"-I{REPO / 'runtime/include'}"]
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={**os.environ, "MPG_PASS_OPTIONS": option.text})
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"pass_costs.py: {source} does not compile with {option.name}")
    return Cost(usage.ru_utime + usage.ru_stime, os.path.getsize(output))


def interval(values: List[float]) -> str:
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(2000))
    return f"{medians[50]:.3f} to {medians[-51]:.3f}"


def measure(options: List[Option], files: List[pathlib.Path], plugin: pathlib.Path,
            rounds: int) -> Dict[str, List[List[Cost]]]:
    """By option, and "" and its target for none: round by round the cost of each file."""
    costs: Dict[str, List[List[Cost]]] = {}
    variants = options + [Option(target[0], "", target) for target in (A64FX, X86)
                          if any(option.target == target for option in options)]
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds):
            for variant in variants:
                costs.setdefault(variant.name, []).append([])
            for number, source in enumerate(files):
                first = (turn + number) % len(variants)
                for variant in variants[first:] + variants[:first]:
                    costs[variant.name][-1].append(
                        compile_once(source, variant, plugin, folder))
    return costs


def print_option(option: Option, files: List[pathlib.Path], changed: List[List[Cost]],
                 plain: List[List[Cost]]) -> bool:
    """Whether it keeps the bars."""
    times = [sum(cost.seconds for cost in ours) / sum(cost.seconds for cost in without)
             for ours, without in zip(changed, plain)]
    sizes = [ours.size / without.size for ours, without in zip(changed[0], plain[0])]
    size = sum(cost.size for cost in changed[0]) / sum(cost.size for cost in plain[0])
    largest = max(range(len(files)), key=lambda at: sizes[at])
    time_ratio = statistics.median(times)
    print(f"| {option.name} | {time_ratio:.3f}x ({interval(times)}) | {size:.3f}x | "
          f"{statistics.geometric_mean(sizes):.3f}x | {files[largest].name} "
          f"{sizes[largest]:.3f}x |", flush=True)
    return time_ratio <= TIME_BAR and size <= SIZE_BAR


def get_texts(option: Option, plugin: pathlib.Path) -> Dict[str, int]:
    """Bytes of each function of stream_loops.c."""
    with tempfile.TemporaryDirectory() as folder:
        compile_once(REPO / "test/bench/stream_loops.c", option, plugin, folder,
                     ["-fno-openmp", "-DNAME(loop)=loop_##loop"])
        lines = subprocess.run(["llvm-nm-22", "-S", os.path.join(folder, "object.o")], check=True,
                               capture_output=True, text=True).stdout.splitlines()
    rows = [line.split() for line in lines if " T loop_" in line]
    return {name[len("loop_"):]: int(size, 16) for _, size, _, name in rows}


def print_texts(options: List[Option], plugin: pathlib.Path) -> None:
    print("\n| option | text of single functions |\n|---|---|")
    for option in options:
        plain, changed = (get_texts(one, plugin)
                          for one in (option._replace(text=""), option))
        print(f"| {option.name} | " + ", ".join(
            f"{name} {changed[name]:,} ({changed[name] / plain[name]:.2f}x)"
            for name in plain) + " |")


def main() -> int:
    arguments = parse(__doc__, build=BUILD, rounds=7,
                      only={"metavar": "OPTION", "choices": [option.name for option in OPTIONS]},
                      files=50)
    options = [option for option in OPTIONS if arguments.only in (None, option.name)]
    files = find_files(arguments.files)
    print(f"machine: {machine()}; {time.strftime('%Y-%m-%d')}; {len(files)} files, "
          f"{arguments.rounds} rounds\n"
          "| option | compile time (95 %) | objects, all | mean of files | largest |\n"
          "|---|---|---|---|---|")
    plugin = arguments.build.resolve() / "lib/MpgPasses.so"
    costs = measure(options, files, plugin, arguments.rounds)
    kept = [print_option(option, files, costs[option.name], costs[option.target[0]])
            for option in options]
    print_texts(options, plugin)
    return 0 if all(kept) else 1


sys.exit(main())
