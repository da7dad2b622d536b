/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An ordinary program for regions.py: 6 MiB of code, 8 MiB of .data, 32 MiB of
 * .bss, a block of 64 MiB, 32 MiB of blocks of 16 kB, 4 MiB of the process
 * stack and 4 MiB of a thread's, all of it in use. It prints where they are,
 * "ready", and waits for the end of its input; then it checks what it wrote.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define SMALL_BYTES 16000
#define SMALL_COUNT (32 * MIB / SMALL_BYTES)

static char filled[8 * MIB] = {1};
static char cleared[32 * MIB];
static char *small[SMALL_COUNT];

/* Code that is there and is run once: returns, with a lot of room between. */
extern char codeStart[], codeEnd[];
__asm__(".pushsection .text.room, \"ax\", @progbits\n"
        ".globl codeStart, codeEnd\n"
        ".p2align 12\n"
        "codeStart:\n"
#if defined(__x86_64__)
        ".fill 6 * 1024 * 1024, 1, 0xc3\n"
#else
        ".fill 6 * 1024 * 256, 4, 0xd65f03c0\n"
#endif
        "codeEnd:\n"
        ".popsection\n");

static void show(const char *name, const void *start, size_t bytes) {
  printf("%s %lx %lx\n", name, (unsigned long)(uintptr_t)start,
         (unsigned long)((uintptr_t)start + bytes));
}

static void use(char *start, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 1000)
    start[at] = (char)(at / 1000 * 7);
}

static int isRight(const char *start, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 1000)
    if (start[at] != (char)(at / 1000 * 7))
      return 0;
  return 1;
}

static void runCode(void) {
  for (char *at = codeStart; at < codeEnd; at += 4096)
    ((void (*)(void))at)();
  show("text", codeStart, (size_t)(codeEnd - codeStart));
}

static pthread_barrier_t filledAll, seenAll;

static void *useThreadStack(void *argument) {
  char block[4 * MIB];
  use(block, sizeof block);
  show("thread-stack", block, sizeof block);
  pthread_barrier_wait(&filledAll);
  pthread_barrier_wait(&seenAll);
  *(int *)argument = isRight(block, sizeof block);
  return NULL;
}

static char *useHeap(void) {
  char *large = malloc(64 * MIB);
  if (!large)
    return NULL;
  use(large, 64 * MIB);
  show("block", large, 64 * MIB);
  for (size_t i = 0; i < SMALL_COUNT; i++) {
    small[i] = malloc(SMALL_BYTES);
    if (!small[i])
      return NULL;
    use(small[i], SMALL_BYTES);
    show("blocks", small[i], SMALL_BYTES);
  }
  return large;
}

static int checkAll(const char *large) {
  int right = isRight(filled, sizeof filled) &&
              isRight(cleared, sizeof cleared) && isRight(large, 64 * MIB);
  for (size_t i = 0; i < SMALL_COUNT; i++)
    right = right && isRight(small[i], SMALL_BYTES);
  return right;
}

int main(void) {
  char block[4 * MIB];
  int threadRight = 0;
  pthread_t thread;
  use(block, sizeof block);
  use(filled, sizeof filled);
  use(cleared, sizeof cleared);
  char *large = useHeap();
  if (!large)
    return 2;
  pthread_barrier_init(&filledAll, NULL, 2);
  pthread_barrier_init(&seenAll, NULL, 2);
  if (pthread_create(&thread, NULL, useThreadStack, &threadRight))
    return 2;
  pthread_barrier_wait(&filledAll);
  runCode();
  show(".data", filled, sizeof filled);
  show(".bss", cleared, sizeof cleared);
  show("stack", block, sizeof block);
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
  }
  pthread_barrier_wait(&seenAll);
  pthread_join(thread, NULL);
  int right = threadRight && isRight(block, sizeof block) && checkAll(large);
  puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
