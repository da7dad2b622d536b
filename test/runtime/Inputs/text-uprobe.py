#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""text-uprobe.py MODE LIBMPG PROGRAM: a kernel probe in the code of PROGRAM, which is
text-symbols.cpp, is hit once with MPG_TEXT=MODE, and libmpg says that its 2 MiB stay as they
are. For root in a mount namespace of its own. Nothing is tested where the kernel has no probes."""

import os
import re
import subprocess
import sys

mode, library, program = sys.argv[1:4]
folder = "/sys/kernel/tracing/"


def read(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout


def find_offset(symbol):
    """Of its first instruction in the file."""
    address = int(re.search(rf"(?m)^(\w+) T {symbol}", read("nm", program))[1], 16)
    for load in re.findall(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", read("readelf", "-lW", program)):
        offset, start, size = (int(word, 16) for word in load)
        if start <= address < start + size:
            return address - start + offset
    sys.exit(f"no segment has {symbol}")


def control(name, line):
    file = os.open(folder + name, os.O_WRONLY | os.O_APPEND)  # open() would seek
    os.write(file, line.encode() + b"\n")
    os.close(file)


subprocess.run(["mount", "-t", "tracefs", "none", folder], check=False)
if not os.path.exists(folder + "uprobe_events"):
    sys.exit(0)
event = f"mpg{os.getpid()}/stop"
control("uprobe_events", f"p:{event} {program}:{find_offset('_Z8stopHerev'):#x}")
try:
    control(f"events/{event}/enable", "1")
    done = subprocess.run([program], env={"LD_PRELOAD": library, "MPG_TEXT": mode},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    with open(folder + "uprobe_profile", encoding="ascii") as file:
        hits = [line.split()[2] for line in file if line.split()[0] == program]
    if hits != ["1"] or "changed pages of it" not in done.stdout:
        sys.exit(f"hits: {hits}; {done.stdout}")
finally:
    control(f"events/{event}/enable", "0")
    control("uprobe_events", f"-:{event}")
