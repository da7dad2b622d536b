/* Forks with much .data and .bss, and notices when parent or child sees a wrong
 * value, or a child ends by a signal. Knows nothing of libmpg: all of this has
 * to work the same on any pages. .data of random content comes from
 * make_data.py (bigData), BSS_MIB of .bss are written here.
 *
 *   once       parent and child write everything at the same time
 *   many       twenty times, one after the other, and the parent has as many
 *              mappings and as much memory afterwards
 *   together   eight children that write when all of them have been forked
 *   nested     a child that forks
 *   threads    while other threads write to their part of .bss
 *   untouched  without .bss being written before: the first to do so is a child
 *   fast       nothing but time: nanoseconds of a fork whose child ends at once
 *
 * With `wait` in front of these, prints "ready" and waits for the end of its
 * input; with `hold` behind them the same, so that its memory can be looked at.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef BSS_MIB
#define BSS_MIB 32
#endif

extern uint64_t bigData[];
extern const uint64_t bigDataWords, bigDataSum;
enum { bssWords = BSS_MIB << 17, threadCount = 3 };
static uint64_t bss[bssWords];
static uint64_t counters[threadCount][512];
static volatile int stop;

static void wrong(const char *what) {
  char line[200];
  int length = snprintf(line, sizeof line, "wrong: %s\n", what);
  if (write(1, line, length) != length)
    abort();
  _exit(1);
}

/* Every word, so that no page and no piece of one can be another's. */
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

static void expectEnd(pid_t child, const char *who) {
  int status;
  if (waitpid(child, &status, 0) != child)
    wrong("waitpid");
  if (WIFSIGNALED(status)) {
    char line[100];
    snprintf(line, sizeof line, "%s ended by signal %d", who, WTERMSIG(status));
    wrong(line);
  }
  if (WEXITSTATUS(status))
    _exit(1); /* it has said what */
}

static uint64_t seed = 1, was = 1;

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

static pid_t forkOrFail(void) {
  errno = 77;
  pid_t child = fork();
  if (child < 0)
    wrong("fork");
  if (child && errno != 77)
    wrong("errno after fork");
  return child;
}

static void once(uint64_t mine) {
  pid_t child = forkOrFail();
  if (child == 0) {
    childWrites(mine + 1000);
    _exit(0);
  }
  parentWrites(mine);
  checkAll(seed, was, "the parent does not see what it wrote");
  expectEnd(child, "the child");
  checkAll(seed, was, "the parent sees what the child wrote");
}

static long mappings(void) {
  long lines = 0;
  FILE *file = fopen("/proc/self/maps", "r");
  for (int c; file && (c = getc(file)) != EOF;)
    lines += c == '\n';
  if (file)
    fclose(file);
  return lines;
}

static long normalMib(void) {
  long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
    wrong("/proc/self/statm");
  fclose(file);
  return resident / (1048576 / sysconf(_SC_PAGESIZE));
}

static void many(void) {
  once(99); /* whatever is changed for good is changed now */
  once(100);
  long mappingsBefore = mappings(), mibBefore = normalMib();
  for (int i = 1; i <= 20; ++i)
    once(100 + i);
  if (mappings() > mappingsBefore + 2)
    wrong("forks leave mappings behind");
  if (normalMib() > mibBefore + 4)
    wrong("forks leave memory behind");
}

static void together(void) {
  enum { children = 8 };
  pid_t child[children];
  int go[2];
  char byte;
  if (pipe(go))
    wrong("pipe");
  for (int i = 0; i < children; ++i) {
    child[i] = forkOrFail();
    if (child[i])
      continue;
    close(go[1]);
    if (read(go[0], &byte, 1))
      wrong("read");
    childWrites(2000 + i);
    _exit(0);
  }
  close(go[1]);
  parentWrites(200);
  for (int i = 0; i < children; ++i)
    expectEnd(child[i], "one of many children");
  close(go[0]);
  checkAll(seed, was, "the parent of many children");
}

static void nested(void) {
  pid_t child = forkOrFail();
  if (child == 0) {
    pid_t grandchild = forkOrFail();
    if (grandchild == 0) {
      childWrites(3001);
      _exit(0);
    }
    parentWrites(3000);
    expectEnd(grandchild, "the child's child");
    checkAll(seed, was, "the child after its own child");
    once(3002);
    _exit(0);
  }
  parentWrites(300);
  expectEnd(child, "the child that forks");
  checkAll(seed, was, "the parent of a child that forks");
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

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
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
  qsort(forks, rounds, sizeof forks[0], compare);
  printf("fork: min %llu median %llu ns\n", (unsigned long long)forks[0],
         (unsigned long long)forks[rounds / 2]);
}

static void hold(void) {
  char byte;
  puts("ready");
  fflush(stdout);
  while (read(0, &byte, 1) == 1)
    ;
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
