#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of one malloc and free of libmpg's heap, by counts that noise does not change.

test/bench/heap/countPairs.c takes and frees blocks in so many threads at once. Prints for
each kind of block, per pair: instructions; locked instructions of libmpg, which are what a
lock, a list of another thread, or a line that others write takes (both by callgrind, which
runs one thread at a time: threads do not wait for each other); and system calls (strace,
threads at the same time). Each is the difference of a run and one of twice as many pairs,
so that starts do not count. Nor do system calls of futex where blocks go to the next
thread: those are of the barriers, at which threads meet after 10 or 100 blocks. Status 1 if one block that comes and goes takes a lock or a
system call in more than one of 100 pairs. For x86-64; needs valgrind, strace and objdump.
"""

from __future__ import annotations

import datetime
import os
import re
import subprocess
import sys
import tempfile

from measuring import LIBRARY, REPO, machine, parse

KINDS = {
    "64 bytes": ("come", "64"),
    "1,000 bytes, 100 held": ("hold", "1000"),
    "64 KiB": ("come", "65536"),
    "64 KiB, 100 held": ("hold", "65536"),
    "1 MiB": ("come", "1048576"),
    "64 bytes, freed by the next thread": ("pass", "64"),
    "64 KiB, freed by the next thread": ("pass", "65536"),
    "1 MiB, freed by the next thread": ("pass", "1048576"),
}
PAIRS = 2000
PAIRS_OF_CALLS = 20000  # the few calls of threads that start together count little
MOST_PER_PAIR = 0.01
LOCKED = re.compile(r"^ +([0-9a-f]+):\s+(?:lock |xchg .*\()", re.MULTILINE)


def locked_addresses(library: str) -> set[int]:
    words = ["objdump", "-d", "--no-show-raw-insn", library]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return {int(found, 16) for found in LOCKED.findall(text)}


def count_instructions(profile: str, library: str, locked: set[int]) -> tuple[int, int]:
    """Of a callgrind file with instructions, in absolute numbers: all, and the locked."""
    everything = special = 0
    is_ours = is_call = False
    with open(profile, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("ob="):
                is_ours = line.rstrip().endswith(os.path.basename(library))
            elif line.startswith("calls="):
                is_call = True  # the next line has what the callee took
            elif line.startswith("0x"):
                words = line.split()
                if not is_call:
                    everything += int(words[-1])
                    if is_ours and int(words[0], 16) in locked:
                        special += int(words[-1])
                is_call = False
    return everything, special


class Counter:
    def __init__(self, library: str, mode: str, folder: str) -> None:
        self.library = os.path.realpath(library)
        self.locked = locked_addresses(self.library)
        self.folder = folder
        self.program = os.path.join(folder, "countPairs")
        source = os.path.join(REPO, "test", "bench", "heap", "countPairs.c")
        subprocess.run(["cc", "-O2", "-fno-builtin", "-pthread", source, "-o",
                        self.program], check=True)
        self.environment = {**os.environ, "MPG_MODE": mode}

    def run(self, tool: list[str], kind: str, threads: int, pairs: int) -> str:
        preload = ["env", f"LD_PRELOAD={self.library}"]
        words = [*KINDS[kind], str(threads), str(pairs)]
        done = subprocess.run([*tool, *preload, self.program, *words], text=True,
                              env=self.environment, capture_output=True)
        if done.returncode:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stderr

    def instructions(self, kind: str, threads: int, pairs: int) -> tuple[int, int]:
        out = os.path.join(self.folder, "profile")
        for name in os.listdir(self.folder):
            if name.startswith("profile"):
                os.remove(os.path.join(self.folder, name))
        tool = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
                "--compress-strings=no", "--trace-children=yes",
                f"--callgrind-out-file={out}.%p"]
        self.run(tool, kind, threads, pairs)
        # `env` becomes the program in the same process: the last profile is its.
        files = [os.path.join(self.folder, name) for name in os.listdir(self.folder)
                 if name.startswith("profile")]
        return count_instructions(max(files, key=os.path.getmtime), self.library,
                                  self.locked)

    def calls(self, kind: str, threads: int, pairs: int) -> int:
        tool = ["strace", "-f", "-c"]
        if KINDS[kind][0] == "pass":
            tool += ["-e", "trace=!futex"]
        text = self.run(tool, kind, threads, pairs)
        return int(re.search(r"^100\.00 .*? (\d+) +(?:\d+ +)?total$", text, re.M)[1])

    def per_pair(self, kind: str, threads: int) -> list[float]:
        one, two = (self.instructions(kind, threads, n) for n in (PAIRS, 2 * PAIRS))
        calls = [self.calls(kind, threads, n) for n in (PAIRS_OF_CALLS, 2 * PAIRS_OF_CALLS)]
        counted = [(two[0] - one[0]) / PAIRS, (two[1] - one[1]) / PAIRS,
                   (calls[1] - calls[0]) / PAIRS_OF_CALLS]
        return [value / threads for value in counted]


def main() -> int:
    options = parse(__doc__, lib=LIBRARY, mode="thp",
                    threads={"type": int, "nargs": "+", "default": [1, 2, 4, 8, 16, 32, 64]},
                    only={"default": "", "metavar": "REGEX", "help": "kinds of blocks"})
    print(f"Counted on {machine()}, {datetime.date.today()}, mode {options.mode}\n")
    print("| block | threads | instructions | locked | system calls |")
    print("|---|---|---|---|---|")
    is_over = False
    with tempfile.TemporaryDirectory(prefix="heap-counts-") as folder:
        counter = Counter(options.lib, options.mode, folder)
        for kind in filter(re.compile(options.only).search, KINDS):
            for threads in options.threads:
                instructions, locked, calls = counter.per_pair(kind, threads)
                print(f"| {kind} | {threads} | {instructions:.0f} | {locked:.3f} | "
                      f"{calls:.4f} |", flush=True)
                if KINDS[kind][0] != "pass":
                    is_over |= locked > MOST_PER_PAIR or calls > MOST_PER_PAIR
    return int(is_over)


sys.exit(main())
