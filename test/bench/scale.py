#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of a report of each rank for a node and the shared file system, by the number of ranks.

Starts N simulated ranks of a small program under `mpgrun --report --json=FOLDER/%h-%r.json`, one
after another, and merges their reports. The first, the middle and the last are traced: calls that
name a path are counted by where it lies, without those of the program alone. Prints a table for
each, then the model, then its extrapolation; the last is not measured. Then a report and a profile
are copied N times, with other nodes and ranks, and merged. Needs gcc and strace.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

from measuring import BUILD, parse

SOURCE = """
#include <stdlib.h>
#include <string.h>
char data[8 << 20];
int main(void) {
  char *block = malloc(8 << 20);
  memset(data, 1, sizeof data);
  memset(block, 1, 8 << 20);
  return data[5] - block[7];
}
"""
NAMED = re.compile(r'^\d+ +(\w+)\((?:AT_FDCWD, |\d+, )?"([^"]+)"')
PLACES = ("reports", "program, mpgtools", "system", "kernel")


def place_of(path: str, folder: str, tools: str) -> str:
    if path.startswith("reports"):
        return "reports"
    if path.startswith(("/proc", "/sys", "/dev")) or "cgroup" in path:
        return "kernel"
    if path.startswith((".", folder, tools)):
        return "program, mpgtools"
    return "system"


def count_calls(trace: Path, folder: str, tools: str) -> Tuple[Dict[str, int], int]:
    """Calls that name a path, by its place, and processes that were started."""
    counts, processes = dict.fromkeys(PLACES, 0), set()
    for line in trace.read_text(errors="replace").splitlines():
        processes.add(line.split()[0])
        named = NAMED.match(line)
        if named:
            counts[place_of(named.group(2), folder, tools)] += 1
    return counts, len(processes)


def start(command: List[str], rank: int, folder: str, trace: str = "") -> None:
    if trace:
        command = ["strace", "-f", "-qq", "-e", "trace=%file,%process", "-o", trace, *command]
    environment = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank)}
    status = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, check=False).returncode
    if status:
        sys.exit(f"scale: error: {' '.join(command)}: status {status}")


def merge(mpgrun: str, folder: str) -> Tuple[float, int]:
    """Processor time in ms, and most memory in MiB."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (1, 2)]
    child = os.posix_spawn(mpgrun, [mpgrun, "--merge", f"{folder}/reports"], os.environ,
                           file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"scale: error: mpgrun --merge: status {status}")
    return 1e3 * (used.ru_utime + used.ru_stime), used.ru_maxrss >> 10


def measure(ranks: int, tools: str, base: str) -> Tuple[Dict[str, int], int, float]:
    """One row of the table; returns calls and bytes of a rank, and ms of its merging."""
    mpgrun = os.path.join(tools, "mpgrun")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cp", base, f"{folder}/app"], check=True)
        os.mkdir(f"{folder}/reports")
        start(["./app"], 0, folder, "alone")
        alone, _ = count_calls(Path(folder, "alone"), folder, tools)
        traced, seen = {0, ranks // 2, ranks - 1}, []
        for rank in range(ranks):
            start([mpgrun, "--report", "--json=reports/%h-%r.json", "./app"], rank, folder,
                  "trace" if rank in traced else "")
            if rank in traced:
                counts, processes = count_calls(Path(folder, "trace"), folder, tools)
                seen.append(([counts[place] - alone[place] for place in PLACES], processes))
        if any(one != seen[0] for one in seen):
            print(f"  {ranks} ranks: the traced ones differ: {seen}")
        files = list(Path(folder, "reports").iterdir())
        size = sum(file.stat().st_size for file in files) // ranks
        milliseconds, memory = merge(mpgrun, folder)
    calls, processes = seen[-1]
    cells = [f"{ranks:,}", f"{len(files):,}", f"{size:,}", str(processes), *map(str, calls),
             f"{milliseconds:.0f} ms", f"{memory} MiB"]
    print(f"| {' | '.join(cells)} |", flush=True)
    return dict(zip(PLACES, calls)), size, milliseconds / ranks


def measure_merge(option: str, count: int, tools: str, base: str) -> None:
    """One row: `count` copies of what a rank leaves by `option`, four a node."""
    mpgrun = os.path.join(tools, "mpgrun")
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder, "reports")
        reports.mkdir()
        start([mpgrun, option, "--json=one.json", base], 0, folder)
        text = Path(folder, "one.json").read_text("utf-8")
        for rank in range(count):
            text = re.sub(r'"rank": \d+', f'"rank": {rank}', text, count=1)
            text = re.sub(r'"host": "[^"]*"', f'"host": "c{rank // 4}"', text, count=1)
            (reports / f"{rank}.json").write_text(text, "utf-8")
        runs = [merge(mpgrun, folder) for _ in range(3)]
    seconds = sorted(milliseconds / 1e3 for milliseconds, _ in runs)
    print(f"| {option} | {count:,} | {len(text):,} | {seconds[0]:.1f} to {seconds[-1]:.1f} s"
          f" | {runs[0][1]} MiB |", flush=True)


def print_model(calls: Dict[str, int], size: int, milliseconds: float) -> None:
    print(f"\nmodel, a rank: 1 file of {size:,} bytes, {calls['reports']} calls on the reports, "
          f"{calls['program, mpgtools']} on program and mpgtools, {milliseconds:.2f} ms to merge")
    print("extrapolated, not measured:")
    for nodes in 10_000, 160_000:
        total = 4 * nodes
        print(f"  {nodes:,} nodes of 4 ranks: {total:,} files, {total * size / 1e9:.1f} GB, "
              f"{total * calls['reports']:,} calls on the reports, "
              f"{total * milliseconds / 1e3:.0f} s to merge")


def main() -> None:
    options = parse(__doc__, ranks="1,10,100,1000", merge="10000,100000", bin=str(BUILD / "bin"))
    tools = os.path.realpath(options.bin)
    with tempfile.TemporaryDirectory() as folder:
        base = f"{folder}/app"
        Path(folder, "app.c").write_text(SOURCE, "ascii")
        subprocess.run(["gcc", "-O1", "app.c", "-o", "app"], cwd=folder, check=True)
        print("| ranks | files | bytes a rank | processes | calls: " + " | calls: ".join(PLACES)
              + " | merge | memory |\n|" + "---|" * 10)
        for ranks in map(int, options.ranks.split(",")):
            calls, size, milliseconds = measure(ranks, tools, base)
        print_model(calls, size, milliseconds)
        print("\n| merged | files | bytes each | time | memory |\n|" + "---|" * 5)
        for option in "--report", "--profile":
            for count in map(int, options.merge.split(",")):
                measure_merge(option, count, tools, base)


main()
