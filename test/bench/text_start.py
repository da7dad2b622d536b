#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What MPG_TEXT=auto adds to a start with libmpg where it has nothing to do.

Starts true, a program with 4 MiB of code that is not linked for large pages, and
programs with 4 and 32 MiB of code that are on large pages already, --rounds times (500
unless said) with MPG_TEXT=auto and off in random order. Prints the median of the pairs'
differences in CPU time with its 95 % interval, how much of the code was on large
pages, and, where valgrind is, the instructions more at addresses that are the same in
each run. Needs gcc.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile

from measuring import LIBRARY, MPGRUN, machine, parse, with_interval
from startup import cpu_milliseconds
from text_pages import large_mib


LARGE = ["-no-pie", "-Wl,-z,max-page-size=2097152,-z,separate-code"]


def make_program(folder: pathlib.Path, name: str, mib: int, flags: list) -> str:
    source, program = folder / f"{name}.c", folder / name
    source.write_text(f'__asm__(".text\\n.fill {mib} << 20, 1, 0xc3\\n");\n'
                      "int main(void) { return 0; }\n", encoding="ascii")
    subprocess.run(["gcc", "-O1", *flags, str(source), "-o", str(program)], check=True)
    return str(program)


def count_instructions(program: str, environment: dict) -> int:
    done = subprocess.run(["setarch", "-R", "valgrind", "--tool=callgrind",
                           "--callgrind-out-file=/dev/null", program], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True,
                          universal_newlines=True)
    return int(re.search(r"refs: +([\d,]+)", done.stdout)[1].replace(",", ""))


def measure(name: str, program: str, options: argparse.Namespace) -> None:
    ways = {setting: {**os.environ, "LD_PRELOAD": options.library, "MPG_TEXT": setting}
            for setting in ("off", "auto")}
    times = {setting: [] for setting in ways}
    for round_number in range(options.rounds + 1):
        for setting in random.sample(list(ways), len(ways)):
            taken = cpu_milliseconds([program], ways[setting]) * 1e3
            if round_number:  # the first reads the file
                times[setting].append(taken)
    more = [auto - off for auto, off in zip(times["auto"], times["off"])]
    line = (f"{name}: {with_interval(more, '+.0f', ' us')} of "
            f"{statistics.median(times['off']):.0f}")
    if shutil.which("valgrind"):
        off, auto = (count_instructions(program, way) for way in ways.values())
        line += f"; {auto - off:+,} instructions of {off:,}"
    print(line, flush=True)


def main() -> None:
    options = parse(__doc__, rounds=500, mpgrun=MPGRUN, library=LIBRARY + ".1")
    print(machine())
    measure("true", shutil.which("true"), options)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        measure("4 MiB, not linked for it", make_program(folder, "unfit", 4, []), options)
        for mib in (4, 32):
            program = make_program(folder, f"fit{mib}", mib, LARGE)
            found = large_mib(options.mpgrun, [program], "--mode=thp", "--text")
            measure(f"{mib} MiB, {found:.0f} of them large", program, options)


main()
