#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the time of a large link with ld.mpg and with ld.lld on this machine.

All of LLVM's static libraries become one shared library of more than 100 MB:

  layout made     with an object that has 8 MiB of .bss: the command line's own
                  objects show that the layout is wanted;
  layout skipped  without it: ld.mpg must look through all archives to know that
                  their .data and .bss are small.

The two linkers run in turn, in an order drawn anew for each pair, and each run
writes a new file. Wall time, since a linker uses several threads; the figure is
the geometric mean of the paired ratios with its 95 % interval, and "reached"
means that the good end of the interval meets the bar and the mean is within 5 %
of it. Processor time is printed beside it and has no bar.

Also: how much larger the file with the layout is, as seen and on disk.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, List

from measuring import REPO, machine, parse, refuse
from mpgaudit_speed import Estimate, Usage, measure

BAR = 1.05  # times ld.lld
OUTPUT_BYTES = 100_000_000
GROWTH_APPARENT = int(2.2 * (1 << 20))
GROWTH_DISK = 64 << 10
BSS_BYTES = 8 << 20
LLVM = "/usr/lib/llvm-22"


def make_object(folder: str) -> str:
    """An object with BSS_BYTES of .bss, assembled by the machine's compiler."""
    source = os.path.join(folder, "large.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"char large[{BSS_BYTES}];\n")
    path = os.path.join(folder, "large.o")
    subprocess.run(["cc", "-c", "-fPIC", source, "-o", path], check=True)
    return path


def commands(tools: Dict[str, str], inputs: List[str], out: str) -> List[List[str]]:
    """The same link by each tool, each with its own output. Compilers always pass
    -m."""
    return [
        [tool, "-m", "elf_x86_64", "-shared", *inputs, "-o", f"{out}.{name}"]
        for name, tool in tools.items()
    ]


def seconds(usages: List[Usage]) -> str:
    wall = sorted(usage.wall_seconds for usage in usages)
    cpu = sorted(usage.cpu_seconds for usage in usages)
    middle = len(wall) // 2
    return (
        f"wall median {wall[middle]:.3f} s (min {wall[0]:.3f}, max {wall[-1]:.3f}), "
        f"cpu median {cpu[middle]:.3f} s"
    )


def print_case(name: str, links: List[List[str]], pairs: int) -> bool:
    """Measures one case; whether the bar is reached."""
    ours, theirs = measure(links, pairs)
    failed = [usage.status for usage in ours + theirs if usage.status != 0]
    size = os.path.getsize(links[1][-1])
    print(f"{name}: {size / 1e6:.0f} MB output, {pairs} pairs")
    if failed or size < OUTPUT_BYTES:
        print(f"  not valid: {len(failed)} links failed, or the output is too small")
        return False
    for tool, usages in (("ld.mpg", ours), ("ld.lld", theirs)):
        print(f"  {tool}  {seconds(usages)}")
    pairs_of_runs = list(zip(ours, theirs))
    wall = Estimate.of([a.wall_seconds / b.wall_seconds for a, b in pairs_of_runs])
    cpu = Estimate.of([a.cpu_seconds / b.cpu_seconds for a, b in pairs_of_runs])
    said = wall.verdict(BAR)
    print(
        f"  wall: {wall.mean:.3f}x ld.lld (95 % {wall.low:.3f} to {wall.high:.3f}, "
        f"pairs {wall.least:.3f} to {wall.most:.3f}); bar {BAR:.2f}x: {said}\n"
        f"  cpu:  {cpu.mean:.3f}x ld.lld (95 % {cpu.low:.3f} to {cpu.high:.3f}, "
        f"pairs {cpu.least:.3f} to {cpu.most:.3f})"
    )
    return said == "reached"


def has_layout(path: str) -> bool:
    """Whether a segment is aligned to 2 MiB, according to readelf."""
    text = subprocess.run(
        ["readelf", "-lW", path], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    return any(
        line.split()[0] == "LOAD" and line.split()[-1] == "0x200000"
        for line in text.splitlines()
        if line.strip()
    )


def print_growth(ours: str, plain: str) -> bool:
    apparent = os.path.getsize(ours) - os.path.getsize(plain)
    disk = 512 * (os.stat(ours).st_blocks - os.stat(plain).st_blocks)
    reached = apparent <= GROWTH_APPARENT and disk <= GROWTH_DISK
    print(
        f"file growth with the layout: {apparent} bytes as seen (bar "
        f"{GROWTH_APPARENT}), {disk} on disk (bar {GROWTH_DISK}): "
        f"{'reached' if reached else 'not reached'}"
    )
    return reached


def parse_arguments() -> argparse.Namespace:
    arguments = parse(__doc__, ld_mpg=os.path.join(REPO, "build/bin/ld.mpg"),
                      ld_lld=os.path.join(LLVM, "bin/ld.lld"), pairs=30,
                      archives={"default": "libLLVM*.a", "metavar": "PATTERN",
                                "help": "what is linked; less than %(default)s is no measurement"},
                      out={"help": "folder for outputs; default: that of TMPDIR"})
    if arguments.pairs < 2:
        refuse("an interval needs at least two pairs")
    for tool in (arguments.ld_mpg, arguments.ld_lld):
        if not shutil.which(tool):
            refuse(f"no program {tool}")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    archives = sorted(glob.glob(os.path.join(LLVM, "lib", arguments.archives)))
    if not archives:
        sys.exit(f"link_time.py: no {arguments.archives} in {LLVM}/lib (package llvm-22-dev)")
    tools = {"mpg": arguments.ld_mpg, "lld": arguments.ld_lld}
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        total = sum(map(os.path.getsize, archives))
        print(f"{len(archives)} archives, {total / 1e6:.0f} MB; outputs in {folder}")
        print(f"machine: {machine()}")
        whole = ["--whole-archive", *archives]
        with_large = [make_object(folder), *whole]
        made = commands(tools, with_large, os.path.join(folder, "made"))
        skipped = commands(tools, whole, os.path.join(folder, "skipped"))
        reached = [
            print_case("layout made", made, arguments.pairs),
            print_case("layout skipped", skipped, arguments.pairs),
        ]
        if not has_layout(made[0][-1]) or has_layout(skipped[0][-1]):
            print("not valid: ld.mpg decided otherwise than the names of the cases say")
            reached.append(False)
        reached.append(print_growth(made[0][-1], made[1][-1]))
    return 0 if all(reached) else 1


sys.exit(main())
