#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""text-same.py STATUS PLAIN... -- COMMAND...: do both end with STATUS and print the same?

The second may print one line to standard error, the first none.
"""

import subprocess
import sys

status, words = int(sys.argv[1]), sys.argv[2:]
middle = words.index("--")
plain, result = [
    subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                   universal_newlines=True)
    for command in (words[:middle], words[middle + 1:])]
print(result.stdout, result.stderr, sep="")
if plain.returncode != status or plain.stderr or not plain.stdout:
    sys.exit(f"alone it ends with {plain.returncode}: {plain.stderr}")
if (result.returncode, result.stdout) != (status, plain.stdout):
    sys.exit(f"it does something else: status {result.returncode}")
if len(result.stderr.splitlines()) > 1:
    sys.exit("more than one line")
