/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A thread sleeps until another one has taken 80 ms of processor time without a
 * record; with an argument until main has done its work. Main has to wait for
 * room in the ring meanwhile.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20, M = 1 << 22 };
static sem_t isDone;
static double many[N];
static double few[8];
static char text[M];

static double threadMs(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *sleeps(void *unused) {
  sem_wait(&isDone);
  few[0] += 1;
  return unused;
}

static void *wakes(void *isWaker) {
  while (threadMs() < 80)
    few[1] += memchr(text, 1, M) != 0;
  if (isWaker)
    sem_post(&isDone);
  return isWaker;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t threads[2];
  sem_init(&isDone, 0, 0);
  pthread_create(&threads[0], 0, sleeps, 0);
  pthread_create(&threads[1], 0, wakes, argc == 1 ? many : 0);
  for (int i = 0; i < N; ++i)
    many[(i * 97) & (N - 1)] += 1;
  if (argc > 1)
    sem_post(&isDone);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return 0;
}
