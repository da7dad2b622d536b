# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""missing_functions.py LIST NM-ARGUMENT...: status 1 and their names if functions
of the file LIST are not defined in what llvm-nm reads."""

import subprocess
import sys

with open(sys.argv[1], encoding="ascii") as file:
    wanted = set(file.read().split())
if not wanted:
    sys.exit("nothing is declared")
names = subprocess.run(["llvm-nm", "--defined-only", *sys.argv[2:]], check=True,
                       text=True, stdout=subprocess.PIPE).stdout
defined = {line.split()[-1] for line in names.splitlines()
           if len(line.split()) == 3 and line.split()[1] == "T"}
if wanted - defined:
    sys.exit("missing: " + " ".join(sorted(wanted - defined)))
