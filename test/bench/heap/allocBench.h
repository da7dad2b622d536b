/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shared by the programs of heap.py: random numbers with a fixed seed, so that
 * every allocator gets the same calls; blocks that exist or end the program;
 * threads; two clocks. Only getBlock() allocates.
 */
#ifndef ALLOC_BENCH_H
#define ALLOC_BENCH_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define PAGE 4096

/* xorshift64*: a few cycles, for the time of the caller is measured. */
static inline uint64_t nextRandom(uint64_t *state) {
  uint64_t x = *state;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  *state = x;
  return (x * 0x2545f4914f6cdd1du) >> 16;
}

static inline uint64_t randomSeed(uint64_t number) {
  return 0x9e3779b97f4a7c15u * (number + 1);
}

/* Ends the program if there is no memory: a run that goes on would be invalid.
 */
static inline void *checkBlock(void *block, size_t bytes) {
  if (!block) {
    fprintf(stderr, "no block of %zu bytes\n", bytes);
    exit(3);
  }
  return block;
}

static inline void *getBlock(size_t bytes) {
  return checkBlock(malloc(bytes), bytes);
}

/* Writes the first and the last byte. */
static inline void markBlock(void *block, size_t bytes) {
  ((volatile char *)block)[0] = 1;
  ((volatile char *)block)[bytes - 1] = 2;
}

/* Writes one byte in each page. */
static inline void touchBlock(void *block, size_t bytes) {
  for (size_t at = 0; at < bytes; at += PAGE)
    ((volatile char *)block)[at] = 1;
}

/* Runs `function` with 0, 1, ... as its argument in as many threads. */
static inline void runThreads(unsigned count, void *(*function)(void *)) {
  pthread_t threads[16];
  for (uintptr_t i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, function, (void *)i))
      exit(3);
  for (unsigned i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

/* A moment on two clocks: the wall's, and processor time of all threads. */
struct Moment {
  double wallMs, cpuMs;
};

static inline double clockMs(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static inline struct Moment momentNow(void) {
  struct Moment now = {clockMs(CLOCK_MONOTONIC),
                       clockMs(CLOCK_PROCESS_CPUTIME_ID)};
  return now;
}

/* Prints "name=wall,cpu" in ms. */
static inline void printSpan(const char *name, struct Moment from,
                             struct Moment to) {
  printf("%s=%.5f,%.5f\n", name, to.wallMs - from.wallMs,
         to.cpuMs - from.cpuMs);
}

/* Prints what is on pages of the pool now, in MiB. Not to be timed. */
static inline void printPool(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kib, total = 0;
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "Private_Hugetlb: %ld", &kib) == 1 ||
        sscanf(line, "Shared_Hugetlb: %ld", &kib) == 1)
      total += kib;
  if (file)
    fclose(file);
  printf("pool_mib=%.1f\n", (double)total / 1024);
}

#endif
