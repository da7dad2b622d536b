#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""text-pages.py PROGRAM -- COMMAND...: is COMMAND, text-pages.c with MPG_TEXT, as it should be?

It prints what PROGRAM prints by itself but for the pages. 4 MiB of its code
and 4 MiB of its constants are on large pages, or one line of libmpg says why not.
Memory that is writable and executable is none, before and after.
"""

import re
import subprocess
import sys

program, command = sys.argv[1], sys.argv[3:]


def run(words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True)
    lines = result.stdout.splitlines()
    lines[1:2] = []
    return result, lines


plain, expected = run([program])
result, lines = run(command)
print(result.stdout, result.stderr, sep="")
if lines != expected or result.returncode != plain.returncode:
    sys.exit("the program does something else")
if expected[1] != "writable code: 0 KiB":
    sys.exit("there is code that can be written to")
code, data = map(int, re.search(r"code: (\d+) KiB large, data: (\d+)", result.stdout).groups())
said = [line for line in result.stderr.splitlines() if "MPG_TEXT=" in line]
isWhole = code >= 4096 and data >= 4096
# Where /proc is hidden libmpg cannot know that all went well.
if len(said) > 1 or not (isWhole or said):
    sys.exit(f"{len(said)} lines about {code} and {data} KiB")
