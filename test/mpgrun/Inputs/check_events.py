#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_events.py TABLE TOOLS CACHE: does libpfm4 number the events as TABLE does?

TABLE is lib/Measure/ProcessorEvents.def. libpfm4 knows only the processors of its own architecture,
so the arm64 build is fetched into CACHE and run in qemu. Prints how many events were compared; ends
with 1 if one differs or none was compared.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FETCH = """set -eu
die() { echo "$*" >&2; exit 1; }
. "$1/other_apt.sh"
mkdir -p "$2"
exec 9>"$2/lock"
flock 9
[ ! -e "$2/root" ] || exit 0
open_other_apt "$2/apt"
download_other libpfm4 || die "cannot fetch libpfm4 for arm64; see $2/apt/log"
dpkg-deb -x "$2"/apt/libpfm4_*.deb "$2/new"
mv "$2/new" "$2/root"
"""
ROW = re.compile(r'MPG_(?:PROCESSOR|SAMPLED)_EVENT\(\s*(\w+),\s*"[^"]+",\s*(\w+),\s*((?:"[^"]*"\s*)+)\)')


def numbers(program, library, events):
    """All events in one run for each processor, because libpfm4 needs its name at start."""
    found = {}
    for processor in sorted({event.split("::")[0] for event in events}):
        mine = [event for event in events if event.startswith(processor + "::")]
        text = subprocess.run(
            [*program, library, *mine], text=True, stdout=subprocess.PIPE, check=True,
            env={**os.environ, "LIBPFM_FORCE_PMU": processor}).stdout
        for line in text.splitlines():
            event, number = line.split()
            found[event] = int(number, 16)
    return found


def main():
    table, tools, cache = sys.argv[1:]
    wanted = {False: {}, True: {}}
    for processor, number, words in ROW.findall(pathlib.Path(table).read_text()):
        for event in "".join(re.findall(r'"([^"]*)"', words)).split():
            wanted[processor == "arm"][event] = int(number, 16)
    subprocess.run(["sh", "-c", FETCH, "sh", tools, cache], check=True)
    source = str(HERE / "event_numbers.c")
    subprocess.run(["gcc", source, "-o", "here"], check=True)
    subprocess.run(["aarch64-linux-gnu-gcc", source, "-o", "arm"], check=True)
    there = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "./arm"]
    (library,) = glob.glob(f"{cache}/root/usr/lib/*/libpfm.so.4")
    found = numbers(["./here"], "libpfm.so.4", wanted[False])
    found.update(numbers(there, os.path.realpath(library), wanted[True]))
    every = {**wanted[False], **wanted[True]}
    others = [f"{event}: {found[event]:#x} and not {number:#x}"
              for event, number in every.items() if found[event] != number]
    print("\n".join(others + [f"{len(every)} compared, {len(others)} differ"]))
    return 1 if others or not wanted[False] or not wanted[True] else 0


sys.exit(main())
