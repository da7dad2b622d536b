#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long mpgaudit needs for a job script of 1,000 lines.

Two scripts that start no program are read in turn: one of 1,000 lines and one
of a single line, which is the price of starting mpgaudit. The figure is the
difference of the processor times, smallest and median, with the spread between
the quartiles. The bar is 5 ms.
"""

import os
import statistics
import sys
import tempfile

from measuring import get_processor_seconds, parse

BAR_MS = 5.0


def script(lines):
    """Settings, branches, loops and quotes, as job scripts have them."""
    text = ["#!/bin/bash", "#SBATCH -N 2 --ntasks-per-node=4 -c 12"]
    block = [
        'export A{0}="value {0} of $A{1}"', "B{0}=$((({0} + 3) * 2))",
        "if [ -n \"$C\" ]; then", "  export C{0}=$B{0}:$C{1}", "else",
        "  export C{0}=${{C:-none}}", "fi", "for i in a b c; do",
        "  echo \"$i\" '{0}' > log.{0}", "done  # of {0}"]
    while len(text) < lines:
        number = len(text)
        text += [line.format(number, number - len(block)) for line in block]
    return "\n".join(text[:lines]) + "\n"


def main():
    arguments = parse(__doc__, "mpgaudit", runs=100)
    with tempfile.TemporaryDirectory() as folder:
        commands = []
        # Ends where a block ends: 2 lines and 100 blocks, less 2 lines.
        for name, lines in (("long", 1002), ("short", 2)):
            path = os.path.join(folder, name + ".sh")
            with open(path, "w", encoding="utf-8") as out:
                out.write(script(lines))
            commands.append([arguments.mpgaudit, "--job=" + path])
        long_ms, short_ms = [], []
        for _ in range(arguments.runs):
            long_ms.append(1e3 * get_processor_seconds(commands[0], False))
            short_ms.append(1e3 * get_processor_seconds(commands[1], False))
    least = min(long_ms) - min(short_ms)
    middle = statistics.median(long_ms) - statistics.median(short_ms)
    quartiles = statistics.quantiles(long_ms, n=4)
    print(f"1,002 lines: smallest {least:.2f} ms, median {middle:.2f} ms, "
          f"spread {quartiles[2] - quartiles[0]:.2f} ms, "
          f"start {min(short_ms):.2f} ms, {arguments.runs} runs")
    reached = least <= BAR_MS
    print(f"bar {BAR_MS} ms: {'reached' if reached else 'missed'}")
    return 0 if reached else 1


sys.exit(main())
