#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What mpgrun --compare says about real programs of Debian.

    minisat     a SAT solver on a random 3-SAT instance, made here from a seed:
                jumps about in some 120 MiB
    bc          digits of pi: computes, in little memory
    gzip        packs a file that is made here: streams through little memory
    true        short: there is nothing to gain, libmpg's start has to be paid
    busybox     statically linked: cannot be compared

Prints Markdown with the machine and the date: for each program the table, the
sentence of each mode and the verdict, as mpgrun wrote them. --program takes one
alone, so that long ones can be run one after the other. Programs that are not
installed (minisat, busybox-static, bc, gzip) are left out by name.
"""

from __future__ import annotations

import argparse
import datetime
import os
import random
import shutil
import subprocess
import sys
import tempfile

from mpgaudit_speed import REPO, describe_machine

VARIABLES, CLAUSES = 300_000, 900_000


def write_sat(path: str) -> None:
    """A random 3-SAT instance that can be solved, the same each time."""
    numbers = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"p cnf {VARIABLES} {CLAUSES}\n")
        for _ in range(CLAUSES):
            chosen = numbers.sample(range(1, VARIABLES + 1), 3)
            signed = [v if numbers.random() < 0.5 else -v for v in chosen]
            file.write(" ".join(map(str, signed)) + " 0\n")


def write_text(path: str) -> None:
    numbers = random.Random(2)
    words = ["".join(numbers.choices("etaoinshrdlu", k=numbers.randint(1, 9)))
             for _ in range(5000)]
    with open(path, "w", encoding="ascii") as file:
        for _ in range(400_000):
            file.write(" ".join(numbers.choices(words, k=10)) + "\n")


def prepare(name: str, folder: str) -> list[str]:
    """The command line of a program, its input made."""
    path = os.path.join(folder, name)
    if name == "minisat":
        write_sat(path)
        return ["minisat", "-verb=0", path]
    if name == "bc":
        with open(path, "w", encoding="ascii") as file:
            file.write("scale=1500\n4*a(1)\nquit\n")
        return ["bc", "-l", "-q", path]
    if name == "gzip":
        write_text(path)
        return ["gzip", "-c", path]
    return {"true": ["true"], "busybox": ["busybox", "true"]}[name]


PROGRAMS = ["minisat", "bc", "gzip", "true", "busybox"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(REPO, "build"))
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--compare", default="none,thp,hugetlb", metavar="MODES")
    parser.add_argument("--repeat", type=int, default=7)
    arguments = parser.parse_args()
    mpgrun = os.path.join(arguments.build, "bin", "mpgrun")
    today = datetime.date.today().isoformat()
    print(f"{describe_machine()}, {today}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.program or PROGRAMS:
            if not shutil.which(name):
                print(f"\n{name} is not installed: left out")
                continue
            command = prepare(name, folder)
            result = subprocess.run(
                [mpgrun, f"--compare={arguments.compare}",
                 f"--repeat={arguments.repeat}", "--", *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                check=False)
            print(f"\n```\n{result.stdout}```", flush=True)
            # 124: nothing to compare, as with a static program.
            if result.returncode not in (0, 124):
                print(f"{name}: mpgrun ended with status {result.returncode}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
