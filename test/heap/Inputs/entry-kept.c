// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads take turns with medium blocks of equal sizes. Prints
//
//   own=N    rounds of 8 in which a thread that had freed a block got that one
//            again, although the other thread freed its own later
//   taken=N  blocks, of 256, that lie where the other thread has freed some
//
// With an argument so many threads are there at once, and each frees 8 blocks:
//
//   room=N   MiB of that which the main thread has got

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 8, many = 256 };
static const size_t bytes = 64 << 10;
static sem_t otherMay, thisMay;
static char *freed[many];
static int own;

/// The other thread works until it lets this one go on.
static void handOver(sem_t *to, sem_t *back) {
  sem_post(to);
  sem_wait(back);
}

static void *workAsOther(void *unused) {
  sem_wait(&otherMay);
  for (int round = 0; round < rounds; ++round) {
    char *block = malloc(bytes + 4096 * round);
    handOver(&thisMay, &otherMay);
    free(block);
    handOver(&thisMay, &otherMay); // which frees its own
    char *again = malloc(bytes + 4096 * round);
    own += again == block;
    free(again);
    handOver(&thisMay, &otherMay);
  }
  for (int i = 0; i < many; ++i)
    freed[i] = malloc(bytes);
  for (int i = 0; i < many; ++i)
    free(freed[i]);
  handOver(&thisMay, &otherMay);
  return unused;
}

static int overlapsFreed(const char *block) {
  for (int i = 0; i < many; ++i)
    if (block < freed[i] + bytes && freed[i] < block + bytes)
      return 1;
  return 0;
}

static int takenCount(void) {
  int count = 0;
  for (int i = 0; i < many; ++i)
    count += overlapsFreed(malloc(bytes));
  return count;
}

enum { maxThreads = 1000, each = 8 };
static pthread_barrier_t step;
static char *crowdFreed[maxThreads][each];

static void *workInCrowd(void *blocks) {
  char **mine = blocks;
  free(malloc(bytes)); // so that all are known before anybody keeps much
  pthread_barrier_wait(&step);
  for (int i = 0; i < each; ++i)
    mine[i] = malloc(bytes);
  pthread_barrier_wait(&step);
  for (int i = 0; i < each; ++i)
    free(mine[i]);
  pthread_barrier_wait(&step);
  pthread_barrier_wait(&step); // the others and the main thread look
  return NULL;
}

/// Equal are blocks that overlap.
static int compare(const void *one, const void *other) {
  const char *a = *(char *const *)one, *b = *(char *const *)other;
  return (a >= b + bytes) - (b >= a + bytes);
}

/// MiB of new blocks that overlap freed ones, of which there are \p count.
static size_t roomIn(char **sorted, int count) {
  size_t room = 0;
  for (int i = 0; i < count; ++i) {
    char *block = malloc(bytes);
    if (bsearch(&block, sorted, count, sizeof block, compare))
      room += bytes;
  }
  return room >> 20;
}

static int measureCrowd(int threads) {
  pthread_t thread;
  pthread_barrier_init(&step, NULL, threads + 1);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&thread, NULL, workInCrowd, crowdFreed[i]) != 0)
      return 2;
  for (int i = 0; i < 3; ++i)
    pthread_barrier_wait(&step);
  qsort(crowdFreed, threads * each, sizeof crowdFreed[0][0], compare);
  printf("room=%zu\n", roomIn(crowdFreed[0], threads * each));
  fflush(stdout);
  _exit(0);
}

int main(int count, char **values) {
  if (count > 1)
    return measureCrowd(atoi(values[1]));
  pthread_t other;
  sem_init(&otherMay, 0, 0);
  sem_init(&thisMay, 0, 0);
  if (pthread_create(&other, NULL, workAsOther, NULL) != 0)
    return 2;
  for (int round = 0; round < rounds; ++round) {
    handOver(&otherMay, &thisMay);
    char *block = malloc(bytes + 4096 * round);
    handOver(&otherMay, &thisMay);
    free(block);
    handOver(&otherMay, &thisMay);
  }
  handOver(&otherMay, &thisMay);
  printf("own=%d taken=%d\n", own, takenCount());
  sem_post(&otherMay);
  pthread_join(other, NULL);
  return 0;
}
