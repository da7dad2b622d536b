/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * 100 threads, each of which holds a block of each size from 16 to 1,008 bytes
 * until all have theirs: small heaps of many sizes.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 100, blocks = 63 };
static pthread_barrier_t all;

static void *hold(void *unused) {
  char *held[blocks];
  for (int i = 0; i < blocks; ++i) {
    held[i] = malloc(16 * (i + 1));
    memset(held[i], 1, 16 * (i + 1));
  }
  pthread_barrier_wait(&all);
  for (int i = 0; i < blocks; ++i)
    free(held[i]);
  return unused;
}

int main(void) {
  pthread_t team[threads];
  pthread_barrier_init(&all, NULL, threads);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&team[i], NULL, hold, NULL))
      return 1;
  for (int i = 0; i < threads; ++i)
    pthread_join(team[i], NULL);
  return 0;
}
