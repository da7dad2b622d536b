// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thread-local arrays and shared ones, with threads, locks and a barrier.
#include <pthread.h>
#include <stdio.h>

enum { threads = 4, count = 2000 };
static __thread long mine[count];
static __thread int calls;
static long shared[threads][count], total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void work(int id) {
  for (int i = 0; i < count; ++i)
    mine[i] += (long)i * (id + 1);
  ++calls;
}

static void *run(void *argument) {
  int id = *(int *)argument;
  for (int round = 0; round < 5; ++round)
    work(id);
  for (int i = 0; i < count; ++i)
    shared[id][i] = mine[i] + calls;
  pthread_barrier_wait(&barrier);
  long sum = 0;
  for (int i = 0; i < count; ++i)
    sum += shared[(id + 1) % threads][i];
  pthread_mutex_lock(&lock);
  total += sum * (id + 1);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t workers[threads];
  int ids[threads];
  pthread_barrier_init(&barrier, NULL, threads);
  for (int i = 0; i < threads; ++i) {
    ids[i] = i;
    if (pthread_create(&workers[i], NULL, run, &ids[i]) != 0)
      return 2;
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(workers[i], NULL);
  for (int i = 0; i < count; ++i)
    if (shared[2][i] != 15L * i + 5 || mine[i] != 0)
      return 1;
  printf("%ld\n", total);
  return 0;
}
