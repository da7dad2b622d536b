/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * leaky [wrong]: leaks three blocks of known sizes, keeps a fourth, and
 * allocates and frees many in a thread; with an argument it also reads a freed
 * block and writes behind another. For valgrind and debuggers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept;

__attribute__((noinline)) static void leak(size_t bytes) {
  char *block = malloc(bytes);
  memset(block, 1, bytes);
  __asm__ volatile("" : : "r"(block) : "memory");
}

static void *inThread(void *argument) {
  for (int i = 0; i < 1000; i++) {
    char *block = malloc(1 + i * 40);
    block[i * 40] = i;
    block = realloc(block, 2 + i * 80);
    *(int *)argument += block[i * 40];
    free(block);
  }
  return NULL;
}

__attribute__((noinline)) static int useWrongly(void) {
  volatile int *freed = malloc(400), *short_ = malloc(80);
  freed[5] = 1;
  free((void *)freed);
  short_[20] = 3;
  int sum = freed[5];
  free((void *)short_);
  return sum != 12345;
}

int main(int argc, char **argv) {
  (void)argv;
  int sum = 0;
  pthread_t thread;
  leak(100);
  leak(30000);
  leak(200000);
  kept = malloc(5000);
  pthread_create(&thread, NULL, inThread, &sum);
  pthread_join(thread, NULL);
  sum += argc > 1 ? useWrongly() - 1 : 0;
  memset(&thread, 0, sizeof thread);
  printf("sum %d\n", sum);
  return 3;
}
