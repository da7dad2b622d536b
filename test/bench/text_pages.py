#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gain of large pages for code: processor time without and with them.

    text_pages.py [--mpgrun MPGRUN] [--rounds N] [--copy] [PROGRAM [ARGUMENT]...]

PROGRAM has to be linked for it (MPG153), but with --copy: that runs any program as it is with
libmpg, without and with copies of its code and that of its libraries (MPG_TEXT=copy). Without PROGRAM one is made whose 64 MiB of
code are called at random: the most that there is to gain. Two copies of the program lie in the
page cache, one in base pages, one in large pages by `mpgrun --text`. Both run in turn in random
order, as they are, without libmpg, so nothing else differs. Prints the medians, the ratio
of each round's pair with the interval that holds its median with 95 % and more, and how
much of the code mpgrun saw on large pages. Needs clang-22 with lld for the program that it makes.
"""

from __future__ import annotations

import json
import os
import pathlib
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from measuring import MPGRUN, machine, parse, with_interval

LINK = ["-fuse-ld=lld", "-Wl,-z,max-page-size=2097152,-z,separate-code"]
FUNCTIONS, CALLS = 16384, 30_000_000


def make_program(folder: pathlib.Path) -> list[str]:
    """16,384 functions, one for each base page, and calls of them at random.

    Each begins 65 cache lines after the one before: on borders of pages all would share a
    few sets of the caches, and the time would be that of cache misses.
    """
    source, program = folder / "walk.c", folder / "walk"
    nop = "0x90909090" if platform.machine() == "x86_64" else "0xd503201f"
    lines = [f"__attribute__((noinline, aligned(64))) unsigned f{i}(unsigned x) "
             f'{{ if (__builtin_expect(x == {i}, 0)) __asm__ volatile(".fill 1020, 4, {nop}"); '
             f"return x * 1664525u + {2 * i + 1}u; }}" for i in range(FUNCTIONS)]
    table = ", ".join(f"f{i}" for i in range(FUNCTIONS))
    lines += [f"unsigned (*table[])(unsigned) = {{{table}}};",
              "int main(void) { unsigned x = 1; "
              f"for (long i = 0; i < {CALLS}; ++i) x = table[x >> 18](x); return x == 0; }}"]
    source.write_text("\n".join(lines), encoding="ascii")
    subprocess.run(["clang-22", "-O1", *LINK, str(source), "-o", str(program)], check=True)
    return [str(program)]


def keep_in_base_pages(program: pathlib.Path) -> None:
    """Has the page cache drop the file and read it page by page."""
    file = os.open(program, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    for at in range(0, os.fstat(file).st_size, 4096):
        os.pread(file, 1, at)
    os.close(file)


def large_mib(mpgrun: str, command: list[str], *options: str) -> float:
    """MiB of code and constants of a run that mpgrun saw on large pages."""
    with tempfile.NamedTemporaryFile() as report:
        subprocess.run([mpgrun, "--mode=none", *options, "--report", f"--json={report.name}",
                        *command],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        rows = json.load(report)["regions"]
    return sum(row["huge_bytes"] for row in rows if row["region"] in ("text", "rodata")) / 2**20


def processor_time(command: list[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if status:
        sys.exit(f"text_pages.py: {command[0]} ended with status {child.returncode}")
    return max(usage.ru_utime + usage.ru_stime, 1e-6)


def make_pair(mpgrun: str, original: list[str], folder: pathlib.Path) -> dict[str, list[str]]:
    """The program in base pages and in large pages of the page cache."""
    pair = {}
    for kind in ("base", "large"):
        (folder / kind).mkdir()
        program = shutil.copy(original[0], folder / kind)
        pair[kind] = [program, *original[1:]]
        keep_in_base_pages(pathlib.Path(program))
    # In mode none libmpg leaves code alone: the page cache is mpgrun's work.
    subprocess.run([mpgrun, "--text", *pair["large"]], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False)
    return pair


def copied(mpgrun: str, original: list[str]) -> dict[str, list[str]]:
    """The program with libmpg, without and with copies of code."""
    start = ["env", "MPG_REMAP=all", mpgrun, "--mode=thp", "--quiet"]
    return {"base": [*start, *original], "large": [*start, "--text=copy", *original]}


def main() -> None:
    args = parse(__doc__, "command...", mpgrun=MPGRUN, rounds=15,
                 folder={"help": "where the copies are made; default: /var/tmp"}, copy=False)
    with tempfile.TemporaryDirectory(dir=args.folder or "/var/tmp") as name:
        folder = pathlib.Path(name)
        original = args.command or make_program(folder)
        if args.copy:
            kinds = copied(args.mpgrun, original)
            mib = {"base": large_mib(args.mpgrun, original, "--mode=thp"),
                   "large": large_mib(args.mpgrun, original, "--mode=thp", "--text=copy")}
        else:
            kinds = make_pair(args.mpgrun, original, folder)
            mib = {kind: large_mib(args.mpgrun, command) for kind, command in kinds.items()}
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(args.rounds):
            for kind in random.sample(sorted(kinds), 2):
                times[kind].append(processor_time(kinds[kind]))
    ratios = [base / large for base, large in zip(times["base"], times["large"])]
    print(f"{machine()}\n{pathlib.Path(original[0]).name}: "
          + ", ".join(f"{kind} pages ({mib[kind]:.0f} MiB large) {statistics.median(each):.3f} s"
                      for kind, each in times.items())
          + f": {with_interval(ratios)}, {args.rounds} rounds")


if __name__ == "__main__":
    main()
