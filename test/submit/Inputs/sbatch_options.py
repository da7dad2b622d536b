#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sbatch_options.py WRAPPER: asks sbatch whether each of its options needs a value, by passing none,
# and compares with the wrapper's functions.

import re
import string
import subprocess
import sys


def run(*command):
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600
    )


def asks_for_value(option):
    error = run("sbatch", "--test-only", option).stderr
    if "unrecognized option" in error or "invalid option" in error or "ambiguous" in error:
        return None
    return "requires an argument" in error


def wrapper_says(functions, call):
    script = f"mpg_program=sbatch-mpg\n{functions}\n{call}"
    return run("sh", "-c", script).returncode == 0


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
functions = text[text.index("takes_value() {") : text.index("# find_job ")]
long_names = sorted(set(re.findall(r"(--[a-z][a-z0-9-]+)", run("sbatch", "--help").stdout)))
agree, wrong = 0, []
questions = [(name, f"takes_value {name} word") for name in long_names]
questions += [(f"-{c}", f"short_takes_value {c}") for c in string.ascii_letters]
for option, call in questions:
    truth = asks_for_value(option)
    if truth is None or option in ("-k",):
        continue
    if wrapper_says(functions, call) == truth:
        agree += 1
    else:
        wrong.append(f"{option}: sbatch {truth}")
print(f"{agree} options agree, {len(wrong)} do not", *wrong, sep="\n")
