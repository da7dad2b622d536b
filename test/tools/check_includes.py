#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each source file includes what it uses, with no precompiled header's help.

    check_includes.py BUILD_DIR [--seed N --count M] [NAME...]

Compiles files of a Ninja build again, for errors only and without their target's precompiled
headers: M that the seed chooses, the named ones, or all. Prints the errors of each file that fails,
then `N files, N fail`; status 1 if one does.
"""

import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
from typing import List

from mpgtest.options import parse
from mpgtest.run import finish

WORD = r"""(?:"[^"]+"|'[^']+'|\S+)"""
PRECOMPILED = re.compile(r"""(-Winvalid-pch )?-include "?[^"]*?cmake_pch\.hxx"?|"""
                         r"(-Xclang )?-include-pch (-Xclang )?" + WORD)


UNITED = re.compile(r'^#include "(.+\.cpp)"$', re.MULTILINE)


def single_files(entry: dict) -> List[dict]:
    """One entry for each file of a unity unit."""
    if "Unity/" not in entry["file"]:
        return [entry]
    with open(os.path.join(entry["directory"], entry["file"]), encoding="utf-8") as unit:
        files = UNITED.findall(unit.read())
    return [dict(entry, file=file,
                 command=entry["command"].replace(entry["file"], file))
            for file in files]


def compile_commands(build: str) -> List[dict]:
    """The commands that compile C++, in a unity unit or alone; a file may be in two targets."""
    text = subprocess.run(["ninja", "-C", build, "-t", "compdb"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return [single for entry in json.loads(text)
            if entry["file"].endswith((".cpp", ".cxx")) and " -c " in entry["command"]
            for single in single_files(entry)]


def find_errors(entry: dict) -> str:
    command = PRECOMPILED.sub("", entry["command"])
    command = re.sub(r" -MD -MT \S+ -MF \S+", "", command)
    command = re.sub(r" -o \S+\.o\b", " -fsyntax-only", command)
    done = subprocess.run(command, shell=True, cwd=entry["directory"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode else ""


def main() -> int:
    options = parse(__doc__, "build", "names*", seed=1, count=0)
    files = [entry for entry in compile_commands(options.build)
             if PRECOMPILED.search(entry["command"])
             and (not options.names
                  or any(name in entry["file"] for name in options.names))]
    if options.count:
        files = random.Random(options.seed).sample(files, options.count)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        found = list(workers.map(find_errors, files))
    return finish([f"{entry['file']}:\n{errors}" for entry, errors in zip(files, found) if errors],
                  f"{len(files)} files, {{}} fail", files)


if __name__ == "__main__":
    sys.exit(main())
