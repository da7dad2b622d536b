#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does mpgaudit blame a job for a value that only the running job knows?

usage: unknown_values.py MPGAUDIT COUNT [SEED]

Makes COUNT job scripts of a few settings each, in one of which the value is
$X, $(cmd) or a part of a value with one of these. An error or a warning about
such a script is right if the same script has it with every value in the place
of the unknown one. Programs are those of job-verdict.test, in the current
folder. Prints each script that breaks this, then how many there were.
"""

import random
import re
import subprocess
import sys

SETTINGS = {
    "XOS_MMM_L_HPAGE_TYPE": ["hugetlbfs", "none"],
    "XOS_MMM_L_LPG_MODE": ["base+stack", "base"],
    "XOS_MMM_L_HUGETLB_SZ": ["2M", "32M", "512M", "1G"],
    "XOS_MMM_L_PAGING_POLICY": ["prepage:demand:prepage", "demand:demand:demand",
                                "prepage:prepage:prepage", "demand:demand:prepage"],
    "XOS_MMM_L_HUGETLB_FALLBACK": ["0", "1"],
    "XOS_MMM_L_ARENA_FREE": ["1", "2"],
    "XOS_MMM_L_ARENA_LOCK_TYPE": ["0", "1"],
    "XOS_MMM_L_MAX_ARENA_NUM": ["1", "4", "48"],
    "XOS_MMM_L_HEAP_SIZE_MB": ["1", "256", "4096"],
    "MALLOC_MMAP_THRESHOLD_": ["1", "134217728", "4294967296"],
    "MALLOC_TRIM_THRESHOLD_": ["1", "134217728"],
    "MALLOC_TOP_PAD_": ["1", "131072"],
    "MALLOC_CHECK_": ["0", "3"],
    "MPG_MODE": ["auto", "thp", "none"],
    "MPG_MMAP": ["off", "thp"],
    "MPG_TEXT": ["off", "auto", "copy"],
    "MPG_FIRST_TOUCH": ["start", "touch"],
    "FLIB_SCCR_CNTL": ["TRUE", "FALSE"],
    "FLIB_L2_SECTOR_NWAYS_INIT": ["0,0", "4,10", "14,2"],
    "OMP_NUM_THREADS": ["1", "12", "48"],
    "LD_PRELOAD": ["", "/usr/lib/libtcmalloc.so.4", "libmpg.so.1",
                   "/opt/FJSVxos/mmm/lib64/libmpg.so.1"],
    "GLIBC_TUNABLES": ["glibc.malloc.hugetlb=1", "glibc.malloc.check=3"],
    "HUGETLB_MORECORE": ["yes", "no"],
    "HUGETLB_ELFMAP": ["W", "no"],
}
PLACES = {  # a line, or a part of the start
    "ulimit -s": ["unlimited", "8192", "1024"],
    "-n": ["1", "4", "48"],
    "numactl -C": ["0-47", "12-59", "0-11"],
    "numactl --cpunodebind": ["0", "4"],
    "numactl -m": ["0", "4-7"],
}
HEADS = ["", "#SBATCH -N 1\n", "#SBATCH -p fx700\n", '#PJM -L "node=1"\n#PJM --mpi "proc=4"\n']
FINDING = re.compile(r"^([^:\n]+):(\d+:)? (?:warning|error): (MPG\d+)"
                     r"(?!.*if the job does not switch large pages off)", re.MULTILINE)


def write(head, values, program):
    """The script with these \\p values of settings and places."""
    lines = [f"export {name}={value}\n" for name, value in values.items() if name in SETTINGS]
    if "ulimit -s" in values:
        lines.append(f"ulimit -s {values['ulimit -s']}\n")
    start = ["mpiexec"]
    start += [f"{name} {values[name]}" for name in list(PLACES)[1:] if name in values]
    return "#!/bin/bash\n" + head + "".join(lines) + " ".join([*start, program]) + "\n"


def findings(mpgaudit, target, script):
    run = subprocess.run(
        [mpgaudit, "--no-config", "--format=line", "--fail-on=never", f"--target={target}",
         "--job=/dev/stdin"], input=script.encode(), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=600, check=False)
    return {match.groups() for match in FINDING.finditer(run.stdout.decode(errors="replace"))}


def try_one(mpgaudit, draw):
    """A script, its target, and the findings that some value contradicts."""
    names = draw.sample(sorted(SETTINGS), draw.randint(1, 5))
    names += [name for name in PLACES if draw.random() < 0.4]
    table = {**SETTINGS, **PLACES}
    values = {name: draw.choice(table[name]) for name in names}
    head, target = draw.choice(HEADS), draw.choice(["fugaku", "mpg"])
    program = draw.choice(["./app", "./data", "./linked", "./absent", "./python3"])
    name = draw.choice(names)
    unknown = draw.choice(["$X", "${X}", "$(cmd)"])
    if draw.random() < 0.3:
        unknown = draw.choice([unknown + table[name][0], table[name][0] + unknown])
    script = write(head, {**values, name: unknown}, program)
    found = findings(mpgaudit, target, script)
    of_all = [findings(mpgaudit, target, write(head, {**values, name: value}, program))
              for value in table[name]]
    extra = found - set.intersection(*of_all)
    return script, target, extra


def main():
    mpgaudit, count, *seed = sys.argv[1:]
    draw = random.Random(int(seed[0]) if seed else 37)
    wrong = 0
    for _ in range(int(count)):
        script, target, extra = try_one(mpgaudit, draw)
        if extra:
            wrong += 1
            print(f"--- {target}: {sorted(extra, key=str)}\n{script}")
    print(f"{count} scripts, {wrong} with a finding that a value contradicts")


main()
