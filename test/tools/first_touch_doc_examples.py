#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do the examples before and after each remark in docs/remarks.md behave as the page says?

    first_touch_doc_examples.py PAGE COMPILER ARGUMENTS...

Takes the code of each section about a missed remark, puts around it what the
page leaves out (declarations, allocation, the parallel use), and compiles it
with the given command, which loads the plugin. The code under "// before" must
get the remark, that under "// after" must not; nor any other missed remark.

Prints one line per section that is wrong, then a count. Exit status 0 when there
is none.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Set

from mpgtest.run import finish

PRELUDE = """
#include <mpg/mpg.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
double f(double);
void work(double *);
void use(void *);
"""


class Around(NamedTuple):
    """Code that the page omits."""

    parameters: str
    head: str
    tail: str
    before: str = ""  # further lines in front of the "before" code only


USE = """#pragma omp parallel for schedule(static)
for (long u = 0; u < n; u++) a[u] += 1;
use(a);"""
SERIAL = "for (long u = 0; u < n; u++) a[u] = u;\n"

AROUND: Dict[str, Around] = {
    "SerialFirstTouch": Around(
        "long n", "double *a = malloc(n * sizeof(double));", USE),
    "SerialRows": Around(
        "long n, long m", "double **row = malloc(n * sizeof *row);",
        "#pragma omp parallel for schedule(static)\n"
        "for (long u = 0; u < n; u++)\n"
        "  for (long v = 0; v < m; v++) row[u][v] += 1;\nuse(row);"),
    "NotBlock": Around(
        "long rows, long m", "double *a = malloc(rows * m * sizeof(double));",
        "use(a);", "for (long u = 0; u < rows * m; u++) a[u] = u;\n"),
    "PlacementTooFine": Around(
        "double *lhs, double *rhs", "enum { n = 1000, m = 20000 };\n"
        "double *mat = malloc(sizeof(double) * n * m);", "use(mat);",
        "for (long u = 0; u < n * m; u++) mat[u] = u;\n"),
    "NonStaticSchedule": Around(
        "long n", "double *a = malloc(n * sizeof(double));", "use(a);", SERIAL),
    "MismatchedSchedules": Around(
        "long n", "double *out = malloc(n * sizeof(double));", "use(out);"),
    "SharedRead": Around(
        "long vocab, long seq, const int *index, float *out",
        "float *table = malloc(vocab * sizeof *table);\n"
        "for (long u = 0; u < vocab; u++) table[u] = u;", "use(table);"),
    "FalseSharing": Around(
        "long n, volatile long *count", "", ""),
    "SamePow2Arrays": Around("", "static", """
for (int i = 0; i < 256; i++)
  for (int k = 0; k < 256; k++)
    a[i][k] = b[i][k] + c[i][k] * d[i][k] - e[i][k];
use(a), use(b), use(c), use(d), use(e);"""),
    "CoarseLoop": Around(
        "double (*a)[100000]", "enum { n = 100000 };\ndouble sum = 0;",
        "use(&sum);"),
    "SmallParallelRegion": Around(
        "double *a, double *b", "enum { n = 100 };", ""),
    "BrkHeap": Around("long bytes", "", "use(p);"),
}
A64FX = ["--target=aarch64-linux-gnu", "-mcpu=a64fx"]


def find_examples(page: str) -> Dict[str, Dict[str, str]]:
    """The code under "// before" and "// after" of each section."""
    found: Dict[str, Dict[str, str]] = {}
    for name, text in re.findall(r"^### (\w+)$(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL):
        code = "\n".join(re.findall(r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        parts = re.split(r"^// (before|after)\b.*$", code, flags=re.MULTILINE)
        if len(parts) == 5:
            found[name] = dict(zip(parts[1::2], parts[2::2]))
    return found


def missed_remarks(command: List[str], text: str) -> Set[str]:
    with tempfile.TemporaryDirectory() as folder:
        source, record = Path(folder, "a.c"), Path(folder, "a.yaml")
        source.write_text(text, "utf-8")
        subprocess.run(
            command + ["-c", "-o", "/dev/null", f"-foptimization-record-file={record}",
                       "-foptimization-record-passes=mpg", str(source)],
            check=True)
        yaml = record.read_text("utf-8") if record.exists() else ""
    return set(re.findall(r"^--- !Missed\nPass: +mpg\nName: +(\w+)", yaml, re.MULTILINE))


def check(name: str, codes: Dict[str, str], command: List[str]) -> List[str]:
    around = AROUND[name]
    wrong = []
    for kind, code in codes.items():
        extra = around.before if kind == "before" else ""
        text = (f"{PRELUDE}void example({around.parameters or 'void'}) {{\n"
                f"{around.head}\n{extra}{code}\n{around.tail}\n}}\n")
        target = A64FX if name == "SamePow2Arrays" else []
        got = missed_remarks(command + target, text)
        if kind == "before" and name not in got:
            wrong.append(f"{name}: before: no such remark, but {sorted(got)}")
        if kind == "after" and got:
            wrong.append(f"{name}: after: {', '.join(sorted(got))}")
    return wrong


def main() -> int:
    examples = find_examples(Path(sys.argv[1]).read_text("utf-8"))
    wrong = [f"{name}: no code for before and after" for name in AROUND if name not in examples]
    for name, codes in examples.items():
        wrong += check(name, codes, sys.argv[2:])
    return finish(wrong, f"{len(examples)} sections, {{}} wrong")


sys.exit(main())
