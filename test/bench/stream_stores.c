// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stream_stores MIB ROUNDS RUNS: the loops of stream_loops.c compiled with --mpg-stream-stores
// and without, in turn on the same arrays of MIB each, for stream_stores.py. Prints for each
// loop and round the shortest time of the processors, in microseconds, without and with.

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef void loop(double *restrict to, const double *x, const double *y, long n);
#define DECLARE(name) loop plain_##name, stream_##name;
DECLARE(scale) DECLARE(add) DECLARE(triad) DECLARE(stencil)

long side = 1;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static double *allocate(long n) {
  long bytes = (n * 8 + (2 << 20)) / (2 << 20) * (2 << 20);
  double *array = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (array == MAP_FAILED)
    exit(3);
  madvise(array, bytes, MADV_HUGEPAGE);
  for (long i = 0; i < n; ++i)
    array[i] = i % 7;
  return array + 1; // at no border of a vector
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  long n = (long)(atof(argv[1]) * (1 << 20)) / 8 - 1;
  while (4 * side * side <= n + 1)
    side *= 2;
  double *to = allocate(n + 1), *x = allocate(n + 1), *y = allocate(n + 1);
  static const struct {
    const char *name;
    loop *run[2];
  } loops[] = {{"scale", {plain_scale, stream_scale}},
               {"add", {plain_add, stream_add}},
               {"triad", {plain_triad, stream_triad}},
               {"stencil", {plain_stencil, stream_stencil}}};
  // Short loops are called more often, so that the clock counts.
  long repeats = 1 + (1 << 18) / n;
  for (size_t at = 0; at < sizeof loops / sizeof *loops; ++at)
    for (int round = 0; round < atoi(argv[2]); ++round) {
      double best[2] = {1e30, 1e30};
      for (int run = 0; run < 2 * atoi(argv[3]); ++run) {
        int kind = (run + round) % 2;
        double time = now();
        for (long i = 0; i < repeats; ++i)
          loops[at].run[kind](to, x, y, n);
        time = (now() - time) / repeats;
        if (time < best[kind])
          best[kind] = time;
      }
      printf("%s %.3f %.3f\n", loops[at].name, best[0], best[1]);
    }
  return to[n / 2] == 12345;
}
