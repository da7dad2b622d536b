#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does a program print the same with first touch as without?

    first_touch_same.py --plugin P --libmpg L [--args "A B"]... -- COMPILER \
        ARGUMENTS... SOURCE

Compiles SOURCE without the plugin, and with it in the modes `on` (with and
without libmpg) and `parallel-init`, at -O1 and -O3, runs all of them with 1, 2,
3, 4 and 8 threads, libmpg's touch by writing and by mbind in turns, and compares
output and exit status with those of the program without the plugin at the same
number of threads. --args: a list of the program's arguments; may be given several
times.

Prints "same: N runs", or the first run that differs (exit status 1). A program that prints nothing
is a failure too: it would prove nothing.
"""

import itertools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List, NamedTuple

from mpgtest.options import parse
from mpgtest.same import Differs, Outcome, compare, get_outcome

THREADS = (1, 2, 3, 4, 8)
TOUCH = ("touch", "mbind")


class Build(NamedTuple):
    """One way to compile the program."""

    name: str
    level: str
    mode: str  # of the option first-touch; empty: no plugin
    libmpg: bool


BUILDS = (
    Build("plain", "-O2", "", False),
    Build("alone", "-O2", "on", False),
    Build("on", "-O1", "on", True),
    Build("on3", "-O3", "on", True),
    Build("parallel", "-O2", "parallel-init", True),
)


def compile_program(args, build: Build, program: Path) -> None:
    environment = dict(os.environ)
    environment.pop("MPG_PASS_OPTIONS", None)
    command = args.command[:-1] + [build.level]
    if build.mode:
        environment["MPG_PASS_OPTIONS"] = f"first-touch={build.mode}"
        command += [f"-fpass-plugin={args.plugin}"]
    command += [args.command[-1], "-o", str(program)]
    if build.libmpg:
        folder = args.libmpg.parent
        command += ["-Wl,--no-as-needed", f"-L{folder}", "-lmpgrt", f"-Wl,-rpath,{folder}"]
    if subprocess.run(command, env=environment, check=False).returncode:
        sys.exit(f"first_touch_same: does not compile: {build.name}")


def run(program: Path, threads: int, touch: str, words: List[str]) -> Outcome:
    environment = dict(os.environ)
    environment.update(
        OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive",
        OMP_DYNAMIC="false", MPG_FIRST_TOUCH=touch,
        # The pool of large pages belongs to all tests that run meanwhile.
        XOS_MMM_L_HPAGE_TYPE="none")
    done = get_outcome([program] + words, environment=environment)
    return done._replace(err=b"")


def check(args, folder: Path) -> int:
    """The number of runs, all alike."""
    programs = {}
    for build in BUILDS:
        programs[build.name] = folder / build.name
        compile_program(args, build, programs[build.name])
    runs = 0
    for words, threads in itertools.product(args.args or [""], THREADS):
        wanted = run(programs["plain"], threads, "off", words.split())
        if not wanted.out:
            raise Differs(f"prints nothing with {threads} threads: {wanted.status}")
        for build in BUILDS[1:]:
            touch = TOUCH[runs % 2]
            runs += 1
            try:
                compare(wanted, run(programs[build.name], threads, touch, words.split()))
            except Differs as reason:
                raise Differs(f"differs: {build}, {threads} threads, {touch}, "
                              f"arguments '{words}': {reason}") from reason
    return runs


def main() -> int:
    args = parse(__doc__, "command+", plugin=Path, libmpg=Path, args={"action": "append"})
    with tempfile.TemporaryDirectory() as folder:
        try:
            print(f"same: {check(args, Path(folder))} runs")
        except Differs as reason:
            print(reason)
            return 1
    return 0


sys.exit(main())
