/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two threads take blocks in turn, 20 in all. "bound": the second one is bound
 * to node 0, the first one is not.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static int binds;

static void *work(void *second) {
  enum { bind = 2 };
  unsigned long node0 = 1;
  if (second && binds)
    syscall(SYS_set_mempolicy, bind, &node0, 64UL);
  for (int i = 0; i < 20; i++) {
    if (i % 2 == !second)
      *(volatile char *)malloc(5 << 20) = 1;
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t threads[2];
  binds = count > 1 && arguments[1][0] == 'b';
  pthread_barrier_init(&barrier, NULL, 2);
  for (size_t i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, i ? &barrier : NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
