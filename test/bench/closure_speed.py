#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares mpgaudit with the closure on to `scanelf -a` on the same files.

mpgaudit gets every ELF file of /usr/bin and finds their libraries itself; scanelf gets both, each
file once. A third command, mpgaudit without the closure, shows what the libraries cost. The three
run in turn, in a new random order for each pair. Processor time is compared, as in
mpgaudit_speed.py, which also defines when a bar is reached.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from typing import List

from measuring import machine
import mpgaudit_speed as speed

speed.ROOTS[:] = ["/usr/bin"]
CLOSURE_BAR = 1.8  # times scanelf -a


def list_libraries(tool: str, listing: str) -> List[str]:
    """The files of all libraries that mpgaudit finds, once each."""
    done = subprocess.run([tool, "--format=json", "--fail-on=never",
                           "@" + listing], stdout=subprocess.PIPE, check=False)
    found = set()
    for report in json.loads(done.stdout)["files"]:
        for library in report.get("closure", []):
            if library["path"]:
                found.add(os.path.realpath(library["path"]))
    return sorted(found)


def write_list(file, paths: List[str]) -> None:
    file.write("".join(path + "\n" for path in paths))
    file.flush()


def main() -> int:
    tool, pairs = speed.parse_arguments()
    scanelf = shutil.which("scanelf")
    if not scanelf:
        sys.exit("closure_speed.py: scanelf is missing (package pax-utils)")
    programs = speed.list_elf_files()
    with tempfile.NamedTemporaryFile("w", suffix=".list") as ours, \
            tempfile.NamedTemporaryFile("w", suffix=".list") as theirs:
        write_list(ours, programs)
        libraries = list_libraries(tool, ours.name)
        write_list(theirs, programs + libraries)
        common = [tool, "-j1", "--format=line"]
        usages = speed.measure([[*common, "@" + ours.name],
                                [*common, "--no-closure", "@" + ours.name],
                                [scanelf, "-a", "-f", theirs.name]], pairs)
    if not libraries:
        sys.exit("closure_speed.py: no library was found; nothing to compare")
    broken = [u.status for u in usages[0] if u.status not in (0, 1, 2)]
    print(f"{len(programs)} ELF files of {' '.join(speed.ROOTS)}, {len(libraries)} libraries, "
          f"{pairs} pairs")
    print(f"machine: {machine()}")
    print(f"{'':24} {'cpu ms':>8} {'min':>8} {'max':>8} {'wall ms':>9} {'peak MiB':>9}")
    for name, rows in zip(("mpgaudit", "mpgaudit --no-closure", "scanelf -a"), usages):
        speed.print_usage(name, rows)
    reached = speed.print_ratio("with the closure", usages[0], usages[2], CLOSURE_BAR)
    if broken:
        print(f"mpgaudit ended with {broken[0]} in {len(broken)} runs: the "
              "times are those of an incomplete run")
    return 0 if reached and not broken else 1


sys.exit(main())
