# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first-touch pass's work for four times as large a function, in instructions.

  first_touch_growth.py CLANG OPT ARGUMENT...

One function fills many arrays that one parallel loop uses, and one array many times.
OPT ARGUMENT... runs the pass on it, in valgrind. Prints how many times as many
instructions the pass takes in each mode; status 1 if that is more than MOST.
"""

import os
import re
import subprocess
import sys

PARTS = 30
TIMES = 4
MOST = {"on": 6, "parallel-init": 8}


def source(parts):
    numbers = range(parts)
    return "\n".join(
        ["void *malloc(unsigned long);", "int puts(const char *);",
         "void use(double *);", "void f(long n) {",
         "  double *one = malloc(n * 8);"]
        + [f"  for (long i = 0; i < n; i++) one[i] = {k};\n"
           f"  if (one[{k}] > 3) puts(\"\");" for k in numbers]
        + [f"  double *a{k} = malloc(n * 8);\n"
           f"  for (long i = 0; i < n; i++) a{k}[i] = i;" for k in numbers]
        + ["#pragma omp parallel for", "  for (long i = 0; i < n; i++) {",
           "    one[i] *= 2;"]
        + [f"    a{k}[i] *= 2;" for k in numbers]
        + ["  }", "  use(one);"] + [f"  use(a{k});" for k in numbers] + ["}"])


def instructions(clang, opt, mode, parts):
    name = f"growth{parts}"
    with open(f"{name}.c", "w", encoding="utf-8") as file:
        file.write(source(parts))
    # Loops as the pass sees them in a compile without LTO.
    subprocess.run([clang, "-O2", "-g", "-flto", "-fopenmp", "-fno-vectorize",
                    "-fno-unroll-loops", "-c", f"{name}.c", "-o", f"{name}.bc"],
                   check=True)
    said = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--collect-atstart=no", "--toggle-collect=mpg::FirstTouchPass::run*",
         *opt, "-passes=mpg-first-touch", f"{name}.bc", "-o", f"{name}.out.bc"],
        env={**os.environ, "MPG_PASS_OPTIONS": f"first-touch={mode}"}, check=True,
        capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", said)[1])


is_bounded = True
for mode, most in MOST.items():
    few, many = (instructions(sys.argv[1], sys.argv[2:], mode, parts)
                 for parts in (PARTS, PARTS * TIMES))
    print(f"{mode}: {few} and {many} instructions: {many / few:.1f} times")
    is_bounded &= many <= most * few
sys.exit(not is_bounded)
