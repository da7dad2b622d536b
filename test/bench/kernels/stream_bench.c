/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * stream_bench copy|triad THREADS BYTES ROUNDS SEED: times all candidates once
 * a round, in a new random order each round, on the same arrays (BYTES in all,
 * on transparent huge pages), and prints `ROUND NAME NANOSECONDS` for a pass.
 * Threads are pinned and persist; each owns a part of the arrays and waits at a
 * barrier before and after the timed part. Status 1: a candidate computed a
 * wrong result. */

#define _GNU_SOURCE
#include "stream_candidates.h"
#include <mpg/kernels.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { max = 24 };
static const double factor = 3.0;
static double *a, *b, *c;
static size_t count; /* elements of an array */
static int threads, passes, warmups;
static Loop *current; /* null: the threads end */
static pthread_barrier_t started;
static unsigned arrived, turn;

static void copyMpg(double *x, const double *y, const double *z, double s,
                    size_t n) {
  (void)z, (void)s;
  mpg_stream_copy_f64(x, y, 0, (int64_t)n, NULL);
}

static void triadMpg(double *x, const double *y, const double *z, double s,
                     size_t n) {
  mpg_stream_triad_f64(x, y, z, s, 0, (int64_t)n, NULL);
}

static void copyMemcpy(double *x, const double *y, const double *z, double s,
                       size_t n) {
  (void)z, (void)s;
  memcpy(x, y, n * sizeof(*x));
}

#define VARIANT(v)                                                             \
  void copy_##v(double *, const double *, const double *, double, size_t);     \
  void triad_##v(double *, const double *, const double *, double, size_t);    \
  void constant_##v(double *, const double *, const double *, double, size_t);
#include "stream_variants.inc"
#undef VARIANT

static int candidates(struct Candidate *list, int copies) {
  int n = 0;
  list[n++] = (struct Candidate){"libmpg", copies ? copyMpg : triadMpg};
  if (copies)
    list[n++] = (struct Candidate){"memcpy", copyMemcpy};
#define VARIANT(v)                                                             \
  list[n++] = (struct Candidate){#v, copies ? copy_##v : triad_##v};           \
  if (!copies)                                                                 \
    list[n++] = (struct Candidate){#v "_constant", constant_##v};
#include "stream_variants.inc"
#undef VARIANT
  return n + addHandCandidates(list + n, copies);
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Spins: a barrier that sleeps would be longer than a pass in L2. */
static void meet(void) {
  unsigned mine = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == (unsigned)threads) {
    __atomic_store_n(&arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&turn, mine + 1, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == mine)
    ;
}

/* One thread's part of a measurement; returns the time of all for one of them.
 */
static double measure(int id) {
  size_t unit = 32, units = count / unit;
  size_t first = units * (size_t)id / (size_t)threads * unit;
  size_t n = units * (size_t)(id + 1) / (size_t)threads * unit - first;
  for (int i = 0; i < warmups; ++i)
    current(a + first, b + first, c + first, factor, n);
  meet();
  uint64_t start = nanoseconds();
  for (int i = 0; i < passes; ++i)
    current(a + first, b + first, c + first, factor, n);
  meet();
  return (double)(nanoseconds() - start) / passes;
}

static void pin(int id) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof(all), &all);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && id-- == 0)
      CPU_SET(cpu, &one);
  pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

static void *work(void *number) {
  int id = (int)(intptr_t)number;
  pin(id);
  pthread_barrier_wait(&started);
  for (;;) {
    meet(); /* `current` is set */
    if (!current)
      return NULL;
    measure(id);
    meet(); /* `current` may change */
  }
}

/* One block, so that all arrays lie on large pages whatever their size. Each
 * begins with a base page, as large arrays from malloc do but for 16 bytes. */
static void allocate(size_t arrays) {
  size_t large = 2u << 20, base = 4096;
  size_t bytes = (count * sizeof(double) + base - 1) / base * base;
  size_t all = (arrays * bytes + large - 1) / large * large;
  char *block = mmap(NULL, all + large, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    perror("stream_bench: mmap");
    exit(2);
  }
  block = (char *)(((uintptr_t)block + large - 1) / large * large);
  madvise(block, all, MADV_HUGEPAGE);
  a = (double *)block;
  b = (double *)(block + bytes);
  c = arrays == 3 ? (double *)(block + 2 * bytes) : b;
  for (size_t i = 0; i < count; ++i)
    c[i] = (double)(i % 77), b[i] = (double)(i % 1000), a[i] = 0;
}

static void verify(const char *name, int copies) {
  for (size_t i = 0; i < count; i += 61) {
    double wanted = (double)(i % 1000);
    if (!copies)
      wanted += factor * (double)(i % 77);
    if (a[i] != wanted) {
      fprintf(stderr, "stream_bench: %s is wrong at %zu\n", name, i);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr,
            "usage: stream_bench copy|triad THREADS BYTES ROUNDS SEED\n");
    return 2;
  }
  int copies = strcmp(argv[1], "copy") == 0;
  threads = atoi(argv[2]);
  size_t bytes = strtoull(argv[3], NULL, 10), arrays = copies ? 2 : 3;
  int rounds = atoi(argv[4]);
  srand((unsigned)atoi(argv[5]));
  count = bytes / arrays / sizeof(double) / 32 * 32;
  allocate(arrays);
  /* About a millisecond for short passes, at 100 bytes a nanosecond. */
  passes = 1 + (int)(100000000 / 1000 / (bytes / 1000 + 1));
  warmups = bytes < (64u << 20) ? 2 : 0;

  struct Candidate list[max];
  int n = candidates(list, copies);
  pthread_t handles[64];
  pthread_barrier_init(&started, NULL, (unsigned)threads);
  for (int id = 1; id < threads; ++id)
    pthread_create(&handles[id], NULL, work, (void *)(intptr_t)id);
  pin(0);
  pthread_barrier_wait(&started);
  for (int round = 0; round < rounds; ++round) {
    for (int i = n - 1; i > 0; --i) {
      int other = rand() % (i + 1);
      struct Candidate swapped = list[i];
      list[i] = list[other];
      list[other] = swapped;
    }
    for (int i = 0; i < n; ++i) {
      current = list[i].run;
      if (round == 0)
        memset(a, 0, count * sizeof(*a));
      meet();
      double time = measure(0);
      meet();
      printf("%d %s %.1f\n", round, list[i].name, time);
      if (round == 0)
        verify(list[i].name, copies);
    }
  }
  current = NULL;
  meet();
  for (int id = 1; id < threads; ++id)
    pthread_join(handles[id], NULL);
  return 0;
}
