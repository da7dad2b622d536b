#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of a fork under libmpg, from the second on, in a program with little memory.

    fork_time.py [--library LIBMPG.SO] [--pairs N] [--threads N]

Runs a program that forks 400 times with and without libmpg in turn and compares,
pair by pair, the median time of a fork and the end of its child, and the processor
time of both processes together, which other work on the machine disturbs less. Prints
medians and the ratio with the interval that holds 95 % of bootstrapped medians. Needs
gcc and a pool.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from typing import List, Tuple

TEST = pathlib.Path(__file__).resolve().parents[1]
SOURCE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char data[1 << 20] = {1}, bss[1 << 20];
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
static double processorUs(void) {
  double sum = 0;
  for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; ++who) {
    struct rusage use;
    getrusage(who, &use);
    sum += (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           use.ru_utime.tv_usec + use.ru_stime.tv_usec;
  }
  return sum;
}
static int compare(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}
static void *idle(void *unused) { for (;;) pause(); return unused; }
static void forkOnce(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status;
  waitpid(child, &status, 0);
}
int main(int count, char **values) {
  enum { forks = 400 };
  static long times[forks];
  char *heap = malloc(1 << 20);
  memset(data, 1, sizeof data);
  memset(bss, 1, sizeof bss);
  memset(heap, 1, 1 << 20);
  for (int i = 0; i < atoi(values[1]); ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
  }
  forkOnce();
  double before = processorUs();
  for (int i = 0; i < forks; ++i) {
    long start = now();
    forkOnce();
    times[i] = now() - start;
  }
  double processor = (processorUs() - before) / forks;
  qsort(times, forks, sizeof *times, compare);
  printf("%.1f %.1f\n", times[forks / 2] / 1e3, processor);
  return count == 0;
}
"""


def microseconds(program: str, threads: int, environment: dict) -> List[float]:
    done = subprocess.run([program, str(threads)], stdout=subprocess.PIPE, check=True,
                          env=environment)
    return [float(word) for word in done.stdout.split()]


def report(what: str, pairs: List[Tuple[float, float]]) -> None:
    ratios = [ours / theirs for theirs, ours in pairs]
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(2000))
    print(f"{what}: plain {statistics.median(p[0] for p in pairs):.1f} us, "
          f"libmpg {statistics.median(p[1] for p in pairs):.1f} us, "
          f"ratio {statistics.median(ratios):.3f} ({medians[50]:.3f} to {medians[1949]:.3f})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default=str(TEST.parent / "build/lib/libmpgrt.so"))
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    plain = {"PATH": os.environ["PATH"]}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "forks")
        subprocess.run(["gcc", "-O2", "-pthread", "-xc", "-", "-o", program],
                       input=SOURCE.encode(), check=True)
        pairs = [(microseconds(program, options.threads, plain),
                  microseconds(program, options.threads,
                               dict(plain, LD_PRELOAD=options.library)))
                 for _ in range(options.pairs)]
    for index, what in enumerate(("time", "processor time")):
        report(what, [(theirs[index], ours[index]) for theirs, ours in pairs])
    return 0


if __name__ == "__main__":
    sys.exit(main())
