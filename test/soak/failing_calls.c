/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Works on all kinds of memory that libmpg has to do with: blocks, .data and
 * .bss, stacks of threads, forks, single pages. Goes on without what it cannot
 * get, and ends with status 8 and a line if a byte is wrong or a child died.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, FORKS = 3, BLOCKS = 8, STACK = 100000, PAGE = 4096 };

static char bss[6 << 20], data[3 << 20] = {1, 2, 3};
static int isWrong;

static void wrong(const char *what, unsigned value) {
  fprintf(stderr, "wrong: %s %x\n", what, value);
  isWrong = 1;
}

static void check(const char *bytes, size_t count, int value,
                  const char *what) {
  for (size_t i = 0; i < count; i += 97)
    if (bytes[i] != (char)value)
      return wrong(what, (unsigned)bytes[i]);
}

static void useHeap(int seed) {
  static const size_t sizes[BLOCKS] = {24,     200,    5000,    20000,
                                       100000, 300000, 3 << 20, 9 << 20};
  char *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    if ((blocks[i] = malloc(sizes[i])))
      memset(blocks[i], i + seed, sizes[i]);
  for (int i = 0; i < BLOCKS; i++) {
    if (!blocks[i])
      continue;
    check(blocks[i], sizes[i], i + seed, "a block");
    char *longer = realloc(blocks[i], 2 * sizes[i]);
    blocks[i] = longer ? longer : blocks[i];
    check(blocks[i], sizes[i], i + seed, "a block that has grown");
  }
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  char *zeros = calloc(1, 2500000);
  if (zeros)
    check(zeros, 2500000, 0, "calloc's block");
  free(zeros);
}

static void *work(void *argument) {
  char local[STACK];
  memset(local, 7, sizeof local);
  __asm__ volatile("" ::"r"(local) : "memory");
  useHeap(3);
  check(local, sizeof local, 7, "a stack");
  return argument;
}

static void useThreads(void) {
  pthread_t threads[THREADS];
  int isThere[THREADS];
  for (int i = 0; i < THREADS; i++)
    isThere[i] = !pthread_create(&threads[i], NULL, work, &threads[i]);
  for (int i = 0; i < THREADS; i++) {
    void *result = NULL;
    if (isThere[i] &&
        (pthread_join(threads[i], &result) || result != &threads[i]))
      wrong("a thread", i);
  }
}

static void useForks(void) {
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (child == 0) {
      check(bss, sizeof bss, 5, "the child's .bss");
      memset(bss, 6, sizeof bss);
      data[5] = 1;
      useHeap(9);
      _exit(isWrong ? 8 : 3);
    }
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && status != 3 << 8)
      wrong("a child ended with", status);
  }
  check(bss, sizeof bss, 5, "the parent's .bss");
}

static void usePages(void) {
  char *page = (char *)(((uintptr_t)bss + PAGE) & -(uintptr_t)PAGE);
  mprotect(page, PAGE, PROT_READ);
  if (mprotect(page, PAGE, PROT_READ | PROT_WRITE)) /* then not to write */
    return;
  page[1] = 5;
}

int main(void) {
  alarm(60);
  memset(bss, 5, sizeof bss);
  data[100000] = 9;
  useHeap(1);
  useThreads();
  useForks();
  usePages();
  useHeap(2);
  int status = system("exit 4");
  if (status != -1 && status != 4 << 8 && status != 127 << 8)
    wrong("system", status);
  check(bss, sizeof bss, 5, ".bss");
  if (data[0] != 1 || data[5] != 0 || data[100000] != 9)
    wrong(".data", data[0]);
  _exit(isWrong ? 8 : 0);
}
