#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of mpgrun --profile: CPU time of programs and mpgrun, with it and without.

Runs each program in turn under mpgrun --mode=none with and without --profile, in a random order,
and prints the median of the ratios, pair by pair, with its interval of 95 %.
--working-set measures that option instead. The stream touches 600 MiB once and reads it
five times: page faults are a third of its time. The others take a second or more; about 10 ms of a
run are mpgrun's start and end. Skips those of sort, awk, perl, zstd, sqlite3, gzip, bc, python3 and
gcc that are not installed. Takes about six minutes on a quiet machine.
"""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

from measuring import MPGRUN, get_processor_seconds, parse, with_interval

STREAM = """#include <stdlib.h>
int main(void) {
  size_t n = (size_t)25 << 20;
  double *a = malloc(n * 8), *b = malloc(n * 8), *c = malloc(n * 8);
#pragma omp parallel for
  for (size_t i = 0; i < n; i++) a[i] = 1, b[i] = 2, c[i] = 0;
  for (int k = 0; k < 5; k++)
#pragma omp parallel for
    for (size_t i = 0; i < n; i++) c[i] = a[i] + 3 * b[i];
  return c[7] != 7;
}"""
PERL = "for(1..350000){$h{$_}=$_*2} my @a=sort {$h{$a}<=>$h{$b}} keys %h; print 0+@a"
PI = "scale=2000; 4*a(1)"
PYTHON = "d = {i: str(i) for i in range(1500000)}; print(len(sorted(d.values())))"
SQL = """create table t(a,b);
with recursive c(x) as (select 1 union all select x+1 from c where x<1200000)
insert into t select x, hex(randomblob(20)) from c;
create index i on t(b); select count(*) from t;"""


def programs(folder):
    generator = random.Random(1)
    numbers = folder / "numbers"
    numbers.write_text("\n".join(str(generator.random()) for _ in range(1500000)))
    (folder / "stream.c").write_text(STREAM)
    command = ["gcc", "-O2", "-fopenmp", folder / "stream.c", "-o", folder / "stream"]
    subprocess.run(command, check=True)
    functions = [f"int f{i}(int *a) {{ int s = 0; for (int j = 0; j < a[{i}]; j++)"
                 f" s += a[j] * {i}; return s; }}" for i in range(600)]
    (folder / "many.c").write_text("\n".join(functions))
    return {
        "sort": ["sort", "-S", "800M", numbers],
        "awk": ["awk", "{s+=$1; a[NR]=$1} END{print s, NR}", numbers],
        "perl": ["perl", "-e", PERL],
        "zstd": ["zstd", "-q", "-5", "-c", numbers],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "gzip": ["gzip", "-1", "-c", numbers],
        "bc": ["sh", "-c", f"echo '{PI}' | exec bc -l"],
        "python3": ["python3", "-c", PYTHON],
        "gcc": ["gcc", "-O2", "-c", folder / "many.c", "-o", folder / "many.o"],
        "stream": [folder / "stream"],
    }


def main():
    args = parse(__doc__, mpgrun=MPGRUN, rounds=15, working_set=False,
                 program={"action": "append", "help": "not all, these"})
    plainly, profiled = ["--mode=none"], ["--mode=none", "--profile"]
    if args.working_set:
        plainly, profiled = profiled, profiled + ["--working-set"]
    os.environ["OMP_NUM_THREADS"] = "2"
    with tempfile.TemporaryDirectory() as folder:
        for name, program in programs(pathlib.Path(folder)).items():
            if args.program and name not in args.program:
                continue
            if not shutil.which(program[0]):
                print(f"{name:8} is not installed: left out")
                continue
            plain, ratios = [], []
            for _ in range(args.rounds):
                times = {}
                for kind in random.sample([0, 1], 2):
                    options = profiled if kind else plainly
                    times[kind] = get_processor_seconds([args.mpgrun, *options, *program])
                plain.append(times[0])
                ratios.append(times[1] / times[0])
            print(f"{name:8} {statistics.median(plain):.2f} s  {with_interval(ratios)}", flush=True)


if __name__ == "__main__":
    main()
