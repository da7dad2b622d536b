/* A program with much .data and .bss that notices a changed value, address, or
 * protection. DATA_MIB of random .data come from data.s (make_data.py), with
 * their sum; a few parts of BSS_MIB of .bss are written before any library's
 * constructor runs.
 *
 * Prints "ready" when all is right and waits until its input is closed, so that
 * its memory can be looked at. With the argument `touch` it writes to all of
 * .bss before that, with `late` afterwards. Works with any C compiler and as
 * any kind of program. */

#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef BSS_MIB
#define BSS_MIB 256
#endif

extern uint64_t bigData[];
extern const uint64_t bigDataWords, bigDataSum;

enum { bssWords = BSS_MIB << 17, step = bssWords / 8 };
static uint64_t bss[bssWords];
static uint64_t *const relro[2] = {bss, bigData}; /* read-only when it runs */
static uint64_t *pointerInData = &bss[bssWords - 1];
static _Thread_local uint64_t local = 7;
static uint64_t *bssBefore, **pointerBefore, *localBefore;
static FILE **stdoutBefore;
static char ***environBefore;

static int chosen(void) { return 42; }
static int (*resolve(void))(void) { return chosen; }
int indirect(void) __attribute__((ifunc("resolve")));

/* Earlier than all constructors, as libraries that start before us would be. */
static void early(void) {
  for (int i = 0; i < 8; ++i) {
    bss[i * step + 3] = 1000 + i;
    bigData[i] ^= 0; /* a private page of a file */
  }
  bss[bssWords - 1] = 99;
  bssBefore = bss;
  pointerBefore = &pointerInData;
  localBefore = &local;
  stdoutBefore = &stdout;
  environBefore = &environ;
}
#ifdef LIBRARY
/* A library has no such array. Its constructors may run after the move. */
__attribute__((constructor)) static void soon(void) { early(); }
#elif defined(EARLY_THREAD)
/* A thread that writes to .bss all the time, from before the move. */
static volatile int stop;
static volatile uint64_t *const counter = &bss[5 * step + 100];
static pthread_t writer;
static void *count(void *unused) {
  uint64_t own = 0;
  for (; !stop; ++own)
    ++*counter;
  return unused ? NULL : (void *)own;
}
static void earlyThread(void) {
  early();
  pthread_create(&writer, NULL, count, NULL);
  while (!*counter)
    ;
}
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = earlyThread;
#else
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = early;
#endif

static int wrong(const char *what) {
  printf("wrong: %s\n", what);
  fflush(stdout);
  return 1;
}

static int sumIsRight(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < bigDataWords; ++i)
    sum = (sum << 1 | sum >> 63) ^ bigData[i];
  return sum == bigDataSum;
}

/* All of .bss is what early() left; reading it makes it present. */
static int bssIsRight(void) {
  uint64_t rest = 0;
  for (uint64_t i = 0; i < bssWords; ++i)
    rest += bss[i];
  return rest == 8 * 1000 + 28 + 99;
}

/* The same without reading untouched memory. */
static int bssPartsAreRight(void) {
  for (int i = 0; i < 8; ++i)
    if (bss[i * step + 3] != 1000u + i || bss[i * step + 4] != 0)
      return 0;
  return bss[bssWords - 1] == 99 && *pointerInData == 99;
}

static sigjmp_buf faulted;
static void leave(int signal) { siglongjmp(faulted, signal); }

/* Without a child: a fork takes memory off the large pages. */
static int isReadOnly(uintptr_t address) {
  volatile uint64_t *word = (volatile uint64_t *)address;
  void (*before)(int) = signal(SIGSEGV, leave);
  int number = sigsetjmp(faulted, 1);
  if (!number)
    *word = *word;
  signal(SIGSEGV, before);
  return number == SIGSEGV;
}

static int heapGrows(void) {
  const size_t bytes = 5 << 20;
  char *start = sbrk(bytes);
  if (start == (char *)-1)
    return 0;
  memset(start, 1, bytes);
  return sbrk(0) == start + bytes;
}

static const char *findWrong(void) {
  struct timespec now = {0, 0};
#ifdef EARLY_THREAD
  void *counted;
  stop = 1;
  pthread_join(writer, &counted);
  if ((uint64_t)counted != *counter)
    return "the count of a thread";
  *counter = 0;
#endif
  if (!sumIsRight())
    return "the sum of .data";
  if (!bssPartsAreRight())
    return ".bss";
  if (bssBefore != bss || pointerBefore != &pointerInData ||
      stdoutBefore != &stdout || environBefore != &environ || relro[0] != bss ||
      relro[1] != bigData)
    return "an address";
  if (localBefore != &local || local != 7 || indirect() != 42)
    return "a thread-local or an indirect function";
  if (!isReadOnly((uintptr_t)&relro[0]))
    return "RELRO: it can be written";
  if (clock_gettime(CLOCK_MONOTONIC, &now) || now.tv_sec + now.tv_nsec == 0)
    return "the clock";
  if (!environ || !heapGrows())
    return "the heap of brk";
  return NULL;
}

static void touchBss(void) {
  for (uint64_t i = 0; i < bssWords; i += 512)
    bss[i] = i;
}

static int touchedBssIsRight(void) {
  for (uint64_t i = 512; i < bssWords; i += 512)
    if (bss[i] != i)
      return 0;
  return 1;
}

/* With the argument `time`: nanoseconds of the clock at the start of main. */
static int printTime(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec) < 0;
}

int main(int argc, char **argv) {
  char byte;
  if (argc > 1 && strcmp(argv[1], "time") == 0)
    return printTime();
  int touch = argc > 1 && strcmp(argv[1], "touch") == 0;
  int late = argc > 1 && strcmp(argv[1], "late") == 0;
  const char *what = findWrong();
  if (what)
    return wrong(what);
  if (touch) {
    if (!bssIsRight())
      return wrong("the sum of .bss");
    touchBss();
  }
  puts("ready");
  fflush(stdout);
  while (read(0, &byte, 1) == 1)
    ;
  if (late) {
    if (!bssIsRight())
      return wrong("the sum of .bss");
    touchBss();
  }
  if ((touch || late) && !touchedBssIsRight())
    return wrong("a value written to .bss");
  return 0;
}
