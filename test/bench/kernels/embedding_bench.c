/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * embedding_bench DIM ROWS TOKENS CALLS PASSES THREADS zipf|uniform ROUNDS:
 * times mpg_embedding_lookup and its peers on one table of f32, in turn, in an
 * order drawn anew for each round, with new indices for each round. A round
 * looks TOKENS rows up CALLS times, each with other indices, into one output,
 * and all that PASSES times, so that a moment's disturbance does not count for
 * much. Each call is shared out among the threads, which are bound to a CPU
 * each. Prints the share of the table that lies on transparent large pages, and
 * one line for each round: the seconds of each candidate. embedding_kernels.py
 * does the arithmetic. */

#define _GNU_SOURCE
#include "embedding_peers.h"
#include "mpg/kernels.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { maxThreads = 64, candidates = 4 };
static const char *const names[candidates] = {"mpg", "memcpy",
                                              "memcpy+prefetch", "compiler"};

static struct mpg_embedding embedding;
static long tokens, calls, passes;
static int threads, candidate;
static atomic_int arrived, departures;

static void fail(const char *what) {
  fprintf(stderr, "embedding_bench: %s\n", what);
  exit(2);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *state) { /* xorshift64 */
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static void *largeArray(size_t bytes) {
  const size_t frame = 2 << 20;
  char *p = mmap(NULL, bytes + frame, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    fail("no memory");
  p += -(uintptr_t)p % frame;
  madvise(p, bytes, MADV_HUGEPAGE);
  memset(p, 1, bytes);
  return p;
}

/* All threads' share of transparent large pages, in KiB. */
static long hugeKib(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib = -1;
  while (file && fgets(line, sizeof line, file))
    sscanf(line, "AnonHugePages: %ld", &kib);
  if (file)
    fclose(file);
  return kib;
}

/* Row numbers by rank, so that popular rows do not lie side by side. */
static void drawIndices(int32_t *indices, long count, long rows,
                        const double *popularity, uint64_t *state) {
  for (long i = 0; i < count; ++i) {
    uint64_t r = next(state);
    if (!popularity) {
      indices[i] = (int32_t)(r % (uint64_t)rows);
      continue;
    }
    double wanted = (double)(r >> 11) * 0x1p-53 * popularity[rows - 1];
    long low = 0, high = rows - 1;
    while (low < high) {
      long middle = (low + high) / 2;
      if (popularity[middle] < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    indices[i] = (int32_t)((uint64_t)low * 2654435761u % (uint64_t)rows);
  }
}

static void oneCall(const struct mpg_embedding *e, long begin, long end) {
  const float *table = e->table;
  const int32_t *indices = e->indices;
  float *out = e->out;
  size_t dim = (size_t)e->dim;
  if (candidate == 0 && mpg_embedding_lookup(e, begin, end))
    fail(mpg_kernel_error());
  if (candidate == 1)
    memcpyRows(out, table, indices, dim, begin, end);
  if (candidate == 2)
    memcpyPrefetchRows(out, table, indices, dim, begin, end);
  if (candidate == 3)
    compilerRows(out, table, indices, dim, begin, end);
}

/* Thread `self` of a round. */
static void allCalls(int self) {
  long begin = tokens * self / threads, end = tokens * (self + 1) / threads;
  for (long call = 0; call < calls * passes; ++call) {
    struct mpg_embedding e = embedding;
    e.indices = (const int32_t *)embedding.indices + call % calls * tokens;
    oneCall(&e, begin, end);
  }
}

static void bind(int self) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && seen++ == self)
      CPU_SET(cpu, &one);
  if (CPU_COUNT(&one))
    sched_setaffinity(0, sizeof one, &one);
}

static void meet(void) { /* spins: threads start within nanoseconds */
  int departure = atomic_load(&departures);
  if (atomic_fetch_add(&arrived, 1) == threads - 1) {
    atomic_store(&arrived, 0);
    atomic_fetch_add(&departures, 1);
  } else {
    while (atomic_load(&departures) == departure)
      ;
  }
}

static void *helper(void *number) {
  int self = (int)(intptr_t)number;
  bind(self);
  for (;;) {
    meet();
    if (candidate < 0)
      return NULL;
    allCalls(self);
    meet();
  }
}

static double measureTime(int which) {
  candidate = which;
  meet();
  double start = now();
  allCalls(0);
  meet();
  return now() - start;
}

static void oneRound(double *seconds, uint64_t *state) {
  int order[candidates];
  for (int i = 0; i < candidates; ++i) {
    int j = (int)(next(state) % (uint64_t)(i + 1));
    order[i] = order[j];
    order[j] = i;
  }
  for (int i = 0; i < candidates; ++i)
    seconds[order[i]] = measureTime(order[i]);
}

static double *zipf(long rows) {
  double *sums = malloc((size_t)rows * sizeof *sums), sum = 0;
  for (long rank = 0; sums && rank < rows; ++rank)
    sums[rank] = sum += 1.0 / (double)(rank + 1);
  return sums;
}

int main(int argc, char **argv) {
  if (argc != 9)
    fail("wrong arguments");
  long dim = atol(argv[1]), rows = atol(argv[2]);
  tokens = atol(argv[3]);
  calls = atol(argv[4]);
  passes = atol(argv[5]);
  threads = atoi(argv[6]);
  double *popularity = strcmp(argv[7], "zipf") == 0 ? zipf(rows) : NULL;
  int rounds = atoi(argv[8]);
  uint64_t state = 88172645463325252u + (uint64_t)dim;

  size_t rowBytes = (size_t)dim * sizeof(float);
  int32_t *indices = malloc((size_t)(tokens * calls) * sizeof *indices);
  embedding = mpg_embedding_default(rows, dim, sizeof(float), sizeof(int32_t));
  embedding.table = largeArray((size_t)rows * rowBytes);
  embedding.out = largeArray((size_t)tokens * rowBytes);
  embedding.indices = indices;
  printf("%s %ld of %zu KiB\n", mpg_kernel_variant(), hugeKib(),
         (size_t)(rows + tokens) * rowBytes >> 10);
  for (int i = 0; i < candidates; ++i)
    printf(i ? "\t%s" : "%s", names[i]);
  putchar('\n');

  pthread_t started;
  for (int self = 1; self < threads; ++self)
    if (pthread_create(&started, NULL, helper, (void *)(intptr_t)self))
      fail("no thread");
  bind(0);
  for (int round = -1; round < rounds; ++round) { /* the first one warms up */
    double seconds[candidates];
    drawIndices(indices, tokens * calls, rows, popularity, &state);
    oneRound(seconds, &state);
    for (int i = 0; round >= 0 && i < candidates; ++i)
      printf(i ? "\t%.9f" : "%.9f", seconds[i]);
    if (round >= 0)
      putchar('\n');
  }
  candidate = -1;
  meet();
  return 0;
}
