#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of mpgrun --compare on real programs of Debian.

    minisat     a SAT solver on a random 3-SAT instance, made here from a seed:
                jumps about in some 120 MiB
    clasp       an answer set solver on the same instance
    bc          digits of pi: computes, in little memory
    gzip        packs a file that is made here: streams through little memory
    sort        sorts the lines of the instance: much memory for a short time
    clang       compiles C++ that is made here: many small blocks
    lulesh      hydrodynamics, allocates its arrays in each time step
    xsbench     looks up cross sections of neutrons at random in some 250 MiB
    true        short: there is nothing to gain, libmpg's start has to be paid
    busybox     statically linked: cannot be compared

Prints Markdown with the machine and the date: for each program the table, the sentence of each mode
and the verdict, as mpgrun wrote them. --program selects one, so that long ones can run separately.
Programs that are not installed (minisat, clasp, busybox-static, bc, gzip, clang-22) are listed and
skipped. lulesh and xsbench are built with gcc from clones of github.com/LLNL/LULESH and
github.com/ANL-CESAR/XSBench in --sources, and run on one thread.

With --processor-time, for a busy machine, mpgrun starts them without --compare: all
programs and modes once a round in random order, and a table of their processor time
(user and system) against that without mpgrun. The interval of a ratio reaches from
the least to the most of its rounds, which holds its median with 96.9 % at six rounds,
and more at more.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from measuring import BUILD, machine, parse

VARIABLES, CLAUSES = 300_000, 900_000


def write_sat(path: str, variables: int, clauses: int) -> None:
    """A random 3-SAT instance that can be solved, the same each time."""
    numbers = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"p cnf {variables} {clauses}\n")
        for _ in range(clauses):
            chosen = numbers.sample(range(1, variables + 1), 3)
            signed = [v if numbers.random() < 0.5 else -v for v in chosen]
            file.write(" ".join(map(str, signed)) + " 0\n")


def write_text(path: str) -> None:
    numbers = random.Random(2)
    words = ["".join(numbers.choices("etaoinshrdlu", k=numbers.randint(1, 9))) for _ in range(5000)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(400_000):
            file.write(" ".join(numbers.choices(words, k=10)) + "\n")


def write_cxx(path: str, functions: int) -> None:
    """C++ that instantiates a container for each function: much for a compiler."""
    with open(path, "w", encoding="ascii") as file:
        file.write("#include <algorithm>\n#include <functional>\n#include <map>\n"
                   "#include <regex>\n#include <string>\n#include <vector>\n")
        for i in range(functions):
            file.write(
                f"struct S{i} {{ int key; double value[{i % 7 + 1}]; }};\n"
                f"double f{i}(const std::vector<S{i}> &in) {{\n"
                f"  std::map<std::string, std::vector<S{i}>> found;\n"
                "  for (const auto &one : in)\n"
                "    found[std::to_string(one.key)].push_back(one);\n"
                "  double sum = 0;\n"
                "  for (auto &[name, all] : found) {\n"
                "    std::sort(all.begin(), all.end(), [](auto &a, auto &b) {\n"
                "      return a.value[0] < b.value[0]; });\n"
                "    sum += all.front().value[0] + name.size();\n"
                "  }\n  return sum;\n}\n")


# Sources in --sources, and how gcc makes a program of them.
BUILDS = {"lulesh": ("LULESH", "g++ -O3 -fopenmp -DUSE_MPI=0 *.cc"),
          "xsbench": ("XSBench/openmp-threading", "gcc -std=gnu99 -O3 -fopenmp *.c -lm")}
OPTIONS = {"minisat": ["-verb=0"], "clasp": ["--quiet=2"], "sort": [],
           "lulesh": ["-s", "60", "-i", "20"],
           "xsbench": ["-s", "small", "-m", "event", "-l", "4000000"]}


def find_program(name: str, sources: str, folder: str) -> str:
    """The path of a program, built if need be; empty if it is not at hand."""
    if name not in BUILDS:
        return shutil.which("clang++-22" if name == "clang" else name) or ""
    below, command = BUILDS[name]
    source = os.path.join(sources, below)
    if not os.path.isdir(source):
        return ""
    program = os.path.join(folder, f"{name}-program")
    subprocess.run(f"{command} -o {program}", shell=True, cwd=source, check=True)
    commit = subprocess.run(["git", "-C", source, "rev-parse", "--short", "HEAD"],
                            stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    print(f"{name} {commit}: {command}", flush=True)
    return program


def prepare(name: str, program: str, folder: str, size: tuple[int, int]) -> list[str]:
    """The command line of a program, its input made."""
    path = os.path.join(folder, name)
    if name in BUILDS:
        return [program, *OPTIONS[name]]
    if name == "clang":
        write_cxx(path + ".cpp", 12)
        return [program, "-O2", "-std=c++17", "-c", path + ".cpp", "-o", path + ".o"]
    if name in ("minisat", "clasp", "sort"):
        write_sat(path, *size)
        return [name, *OPTIONS[name], path]
    if name == "bc":
        with open(path, "w", encoding="ascii") as file:
            file.write("scale=1500\n4*a(1)\nquit\n")
        return ["bc", "-l", "-q", path]
    if name == "gzip":
        write_text(path)
        return ["gzip", "-c", path]
    return {"true": ["true"], "busybox": ["busybox", "true"]}[name]


PROGRAMS = ["minisat", "clasp", "clang", "lulesh", "xsbench", "bc", "gzip", "sort",
            "true", "busybox"]


def processor_time(command: list[str]) -> float:
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet) as program:
        _, _, used = os.wait4(program.pid, 0)
        program.returncode = 0
    return used.ru_utime + used.ru_stime


def compare_times(commands: dict[str, list[str]], mpgrun: str,
                  arguments: argparse.Namespace) -> None:
    modes = arguments.compare.split(",")
    times: dict[tuple[str, str], list[float]] = {}
    order = random.Random(1)
    for _ in range(arguments.repeat):
        jobs = [(name, mode) for name in commands for mode in modes]
        order.shuffle(jobs)
        for name, mode in jobs:
            front = [] if mode == "none" else [mpgrun, "-q", f"--mode={mode}"]
            spent = processor_time(front + commands[name])
            times.setdefault((name, mode), []).append(spent)
    print_times(times, modes)


def print_times(times: dict[tuple[str, str], list[float]], modes: list[str]) -> None:
    print("| program | without, s | " + " | ".join(modes[1:]) + " |")
    print("|---" * (1 + len(modes)) + "|")
    for name in dict.fromkeys(name for name, _ in times):
        base = times[name, modes[0]]
        cells = [f"{statistics.median(base):.3g}"]
        for mode in modes[1:]:
            ratios = [a / b for a, b in zip(base, times[name, mode])]
            cells.append(f"{statistics.median(ratios):.2f}"
                         f" [{min(ratios):.2f}, {max(ratios):.2f}]")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def compare_one(mpgrun: str, arguments: argparse.Namespace, command: list[str]) -> int:
    """Has mpgrun compare a program; 1 if it could not."""
    result = subprocess.run(
        [mpgrun, f"--compare={arguments.compare}",
         f"--repeat={arguments.repeat}", "--", *command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    print(f"\n```\n{result.stdout}```", flush=True)
    # 124: nothing to compare, as with a static program.
    if result.returncode not in (0, 124):
        print(f"{command[0]}: mpgrun ended with status {result.returncode}")
        return 1
    return 0


def main() -> int:
    arguments = parse(__doc__, build=str(BUILD), program={"action": "append", "choices": PROGRAMS},
                      sources=".", compare="none,thp,hugetlb", repeat=7, variables=VARIABLES,
                      clauses=CLAUSES, processor_time=False)
    os.environ["OMP_NUM_THREADS"] = "1"
    mpgrun = os.path.join(arguments.build, "bin", "mpgrun")
    today = datetime.date.today().isoformat()
    print(f"{machine()}, {today}", flush=True)
    size = (arguments.variables, arguments.clauses)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        commands: dict[str, list[str]] = {}
        for name in arguments.program or PROGRAMS:
            program = find_program(name, arguments.sources, folder)
            if program:
                commands[name] = prepare(name, program, folder, size)
            else:
                print(f"\n{name} is not installed: left out")
        if arguments.processor_time:
            compare_times(commands, mpgrun, arguments)
        else:
            failed = sum(compare_one(mpgrun, arguments, command) for command in commands.values())
    return 1 if failed else 0


sys.exit(main())
