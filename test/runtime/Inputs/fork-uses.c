/* Forks with much .data and .bss, and notices if parent or child sees a wrong
 * value, or a signal ends a child. Independent of libmpg: all of this has to
 * work the same on any pages. .data of random content comes from make_data.py
 * (bigData), BSS_MIB of .bss are written here.
 *
 *   once       parent and child write everything at the same time
 *   many       seven times, one after the other, and the parent has as many
 *              mappings and as much memory afterwards
 *   together   eight children that write when all of them have been forked
 *   nested     a child that forks
 *   threads    while other threads write to their part of .bss
 *   untouched  without .bss being written before: the first to do so is a child
 *   fast       nothing but time: nanoseconds of a fork whose child ends at once
 *
 * With `wait` in front of these, prints "ready" and waits for the end of its
 * input; with `hold` after them the same, so that its memory can be looked at.
 */

#define _GNU_SOURCE
#include "fork-steps.h"
#include <pthread.h>

#ifndef BSS_MIB
#define BSS_MIB 32
#endif

extern uint64_t bigData[];
extern const uint64_t bigDataWords, bigDataSum;
enum { bssWords = BSS_MIB << 17, threadCount = 3 };
static uint64_t bss[bssWords];
static uint64_t counters[threadCount][512];
static volatile int stop;

/* Every word differs, so that mixed-up pages and parts of pages are found. */
static void writeAll(uint64_t seed) {
  for (uint64_t i = 0; i < bssWords; ++i)
    bss[i] = i * 0x9e3779b97f4a7c15 + seed;
  for (uint64_t i = 0; i < bigDataWords; ++i)
    bigData[i] ^= seed;
}

/* \p was: the seeds so far, each of which has changed .data. */
static void checkAll(uint64_t seed, uint64_t was, const char *who) {
  uint64_t sum = 0, bad = 0;
  for (uint64_t i = 0; i < bssWords; ++i)
    bad += bss[i] != i * 0x9e3779b97f4a7c15 + seed;
  if (bad)
    wrong(who);
  for (uint64_t i = 0; i < bigDataWords; ++i)
    sum = (sum << 1 | sum >> 63) ^ (bigData[i] ^ was);
  if (sum != bigDataSum)
    wrong(who);
}

static uint64_t seed = 1, was = 1;

static void checkNow(const char *who) { checkAll(seed, was, who); }

static void childWrites(uint64_t mine) {
  checkAll(seed, was, "the child sees other values");
  writeAll(mine);
  checkAll(mine, was ^ mine, "the child does not see what it wrote");
}

static void parentWrites(uint64_t mine) {
  writeAll(mine);
  seed = mine;
  was ^= mine;
}

static void *count(void *argument) {
  volatile uint64_t *counter = argument;
  uint64_t own = 0;
  for (; !stop; ++own)
    for (int i = 0; i < 512; ++i)
      ++counter[i];
  return (void *)own;
}

static void threads(void) {
  pthread_t thread[threadCount];
  void *counted;
  for (int i = 0; i < threadCount; ++i)
    if (pthread_create(&thread[i], NULL, count, counters[i]))
      wrong("pthread_create");
  for (int i = 0; i < 5; ++i)
    once(400 + i);
  stop = 1;
  for (int i = 0; i < threadCount; ++i) {
    pthread_join(thread[i], &counted);
    for (int j = 0; j < 512; ++j)
      if (counters[i][j] != (uint64_t)counted)
        wrong("a thread's writes are lost");
  }
}

static void untouched(void) {
  pid_t child = forkOrFail();
  if (child == 0) {
    for (uint64_t i = 0; i < bssWords; ++i)
      if (bss[i])
        wrong("untouched .bss is not zero in the child");
    writeAll(500);
    checkAll(500, 500, "the child does not see what it wrote");
    _exit(0);
  }
  expectEnd(child, "the child");
  for (uint64_t i = 0; i < bssWords; ++i)
    if (bss[i])
      wrong("untouched .bss is not zero in the parent");
}

static void fast(void) {
  enum { rounds = 101 };
  static uint64_t forks[rounds];
  for (int i = 0; i < rounds; ++i) {
    uint64_t start = nanoseconds();
    pid_t child = fork();
    if (child == 0)
      _exit(0);
    forks[i] = nanoseconds() - start;
    expectEnd(child, "the child");
  }
  printTimes("fork", forks, rounds);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const char *use = argv[i];
    if (strcmp(use, "wait") == 0 || strcmp(use, "hold") == 0)
      hold();
    else if (strcmp(use, "untouched") == 0)
      untouched();
    else if (bss[1] == 0)
      writeAll(1);
    if (strcmp(use, "once") == 0)
      once(10);
    if (strcmp(use, "many") == 0)
      many();
    if (strcmp(use, "together") == 0)
      together();
    if (strcmp(use, "nested") == 0)
      nested();
    if (strcmp(use, "threads") == 0)
      threads();
    if (strcmp(use, "fast") == 0)
      fast();
  }
  puts("right");
  return 0;
}
