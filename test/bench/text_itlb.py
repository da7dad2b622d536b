#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why large pages for code bring a program much or little: a model of instruction TLBs.

    text_itlb.py [PROGRAM [ARGUMENT]...]

Runs the program under valgrind's lackey, some 100 times slower than by itself, and counts the
misses of the instruction TLB for the program's code in base pages and in pages of 2 MiB, with the
sizes of two processors (text_itlb.c). Prints them for each 1,000 instructions: modelled, not
measured. Without PROGRAM it takes the one of text_pages.py whose 64 MiB of code are called at
random. For x86-64; needs gcc, readelf and valgrind.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from text_pages import make_program

from mpgtest.options import parse

BENCH = pathlib.Path(__file__).resolve().parent
# Where valgrind 3.19 loads a position independent program.
PIE_BASE = 0x108000


def text_range(program: str) -> list[str]:
    """First and last address of the program's code in its file, and what memory adds to them."""
    headers = subprocess.run(["readelf", "-lW", program], stdout=subprocess.PIPE, text=True,
                             check=True).stdout
    rows = re.findall(r"LOAD +\S+ (0x\w+) \S+ \S+ (0x\w+) R E", headers)
    if not rows:
        sys.exit(f"text_itlb.py: {program} has no segment of code")
    low = min(int(address, 16) for address, _ in rows)
    high = max(int(address, 16) + int(size, 16) for address, size in rows)
    return [hex(low), hex(high), hex(PIE_BASE if " DYN " in headers else 0)]


def count(folder: pathlib.Path, command: list[str]) -> list[list[str]]:
    """The words of each line that the model prints."""
    model = folder / "model"
    subprocess.run(["gcc", "-O2", str(BENCH / "text_itlb.c"), "-o", str(model)], check=True)
    lackey = ["valgrind", "--tool=lackey", "--trace-superblocks=yes", "--vex-guest-chase=no",
              "--log-fd=9", *command]
    # Blocks go to descriptor 9, which is the pipe; the program's output goes nowhere.
    run = subprocess.Popen(["bash", "-c", 'exec 9>&1 >/dev/null; exec "$@"', "bash", *lackey],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    done = subprocess.run([str(model), *text_range(command[0])], stdin=run.stdout,
                          stdout=subprocess.PIPE, text=True, check=True)
    if run.wait():
        sys.exit(f"text_itlb.py: {command[0]} ended with status {run.returncode}")
    return [line.split() for line in done.stdout.splitlines()]


def main() -> None:
    args = parse(__doc__, "command...")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = args.command or make_program(folder)
        command[0] = shutil.which(command[0]) or sys.exit(f"text_itlb.py: no {command[0]}")
        (_, instructions), *rows = count(folder, command)
    thousands = int(instructions) / 1000
    print(f"{pathlib.Path(command[0]).name}: {int(instructions) / 1e6:.1f} million instructions; "
          "misses for each 1,000, modelled:")
    for processor, *misses in rows:
        first, walks, first_large, walks_large = (int(each) / thousands for each in misses)
        print(f"  {processor}: first level {first:.2f}, large pages {first_large:.2f}; "
              f"page walks {walks:.3f}, large pages {walks_large:.3f}")


main()
