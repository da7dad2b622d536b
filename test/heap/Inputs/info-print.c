/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Holds known blocks, one of them in an arena of another thread where threads
 * have their own, and lets malloc_stats and malloc_info print.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *hold(void *unused) {
  void *volatile block = malloc(100000);
  return unused ? block : NULL;
}

int main(int count, char **arguments) {
  void *small[100], *volatile medium, *volatile large;
  pthread_t thread;
  medium = malloc(3 << 20);
  pthread_create(&thread, NULL, hold, NULL);
  pthread_join(thread, NULL);
  for (int i = 0; i < 100; i++)
    small[i] = malloc(48);
  for (int i = 0; i < 60; i++)
    free(small[i]);
  large = malloc(200 << 20);
  if (strcmp(arguments[1], "stats") == 0) {
    close(1); /* it goes to standard error, whatever stdio is up to */
    flockfile(stderr);
    malloc_stats();
    funlockfile(stderr);
    return 0;
  }
  errno = 0;
  if (malloc_info(1, stdout) != EINVAL)
    return 1;
  struct mallinfo2 info = mallinfo2();
  FILE *file = fopen(arguments[2], "w");
  if (malloc_info(0, file) != 0 || fclose(file) != 0)
    return 1;
  fprintf(stderr, "%zu %zu\n", info.arena + info.hblkhd, info.hblks);
  return 0;
}
