#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long innermost loops are with tags, and without.

Compiles tag_loops.c, the kernels of test/passes/cost and the C programs of
test/passes/corpus at -O3 -g for a64fx, for a64fx with vectors of 512 bits and
for generic AArch64, without hints, with one hint for all variables and with a
random one for each, and compares their loops as innermost_loops.py --lengths does.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Counter, List

from measuring import BUILD, REPO, parse

PROCESSORS = [["-mcpu=a64fx"], ["-mcpu=a64fx", "-msve-vector-bits=512"], ["-mcpu=generic"]]
SUMS = re.compile(r"loops: (\d+) the same, (\d+) shorter, (\d+) longer, (\d+) "
                  r"not paired, (\d+) kept; (\d+) instructions, (\d+) without")
NAMES = ["same", "shorter", "longer", "unpaired", "kept", "instructions", "without"]
DIFFERENCE = re.compile("  (longer|not paired|kept): ")
ONE_HINT = """#include <mpg/hints.h>
#pragma clang attribute push(MPG_STREAM, apply_to = function)
#include "{source}"
#pragma clang attribute pop
"""


def compare(source: pathlib.Path, flags: List[str], hints: str,
            options: argparse.Namespace, work: str) -> str:
    plain, tagged = f"{work}/plain.s", f"{work}/tagged.s"
    wrapper = pathlib.Path(work) / source.name
    wrapper.write_text(ONE_HINT.format(source=source), encoding="utf-8")
    command = [options.clang, "--target=aarch64-linux-gnu", "-w", "-O3", "-g",
               "-S", f"-I{REPO}/runtime/include", *flags]
    plugin = f"-fpass-plugin={options.plugin}"
    subprocess.run(command + [str(source), "-o", plain], check=True)
    if hints == "one hint":
        subprocess.run(command + [plugin, "-DMPG_HINTS", str(wrapper), "-o", tagged], check=True)
    else:
        subprocess.run(command + [plugin, str(source), "-o", tagged],
                       check=True, env={**os.environ, "MPG_PASS_OPTIONS":
                                        f"random-hints={options.seed}"})
    done = subprocess.run(
        [sys.executable, str(REPO / "test/tools/innermost_loops.py"),
         "--lengths", "100000", plain, tagged],
        check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.stdout


def compare_all(flags: List[str], hints: str, options: argparse.Namespace) -> Counter[str]:
    total: Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tag-loops-") as work:
        for source in (REPO / "test/bench/tag_loops.c",
                       *sorted((REPO / "test/passes/cost").glob("*.c")),
                       *sorted((REPO / "test/passes/corpus").glob("*.c"))):
            if options.only not in ("", source.name):
                continue
            said = compare(source, flags, hints, options, work)
            if found := SUMS.search(said):
                total.update(dict(zip(NAMES, map(int, found.groups()))))
            if options.verbose:
                print("".join(f"{source.name}:{line}\n" for line in
                              said.splitlines() if DIFFERENCE.match(line)),
                      end="")
    return total


def main() -> int:
    options = parse(__doc__, seed=1,
                    only={"default": "", "metavar": "FILE", "help": "one of the sources"},
                    verbose={"action": "store_true", "help": "name the loops that are longer"},
                    clang="clang-22", plugin=BUILD / "lib/MpgPasses.so")
    options.plugin = options.plugin.resolve()
    for flags in PROCESSORS:
        for hints in ("one hint", "random hints"):
            total = compare_all(flags, hints, options)
            print(f"{' '.join(flags)}, {hints}: {total['same']} loops the same, "
                  f"{total['shorter']} shorter, {total['longer']} longer, "
                  f"{total['unpaired']} not paired, {total['kept']} kept; "
                  f"{total['instructions']} instructions, {total['without']} "
                  "without tags", flush=True)
    return 0


sys.exit(main())
