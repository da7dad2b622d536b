/* Waits at barriers of libmpg and checks each time that no thread has left
 * before all have arrived. Prints which barrier it was and `right`, or what is
 * wrong.
 *
 *   barrier-uses THREADS ROUNDS bound|free */

#define _GNU_SOURCE
#include <mpg/mpg.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max = 64 };
static unsigned threads, rounds;
static int bind;
static struct mpg_barrier *barriers[2];
static unsigned came[max]; /* plain: the barrier orders them */

static void wrong(const char *what) {
  printf("wrong: %s\n", what);
  exit(1);
}

static void bindTo(unsigned number) {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof all, &all))
    wrong("sched_getaffinity");
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && number-- == 0)
      CPU_SET(cpu, &one);
  if (CPU_COUNT(&one) && sched_setaffinity(0, sizeof one, &one))
    wrong("sched_setaffinity");
}

/* Two barriers in turn: what was written before the first wait is looked at
 * between the two, by all. */
static void *work(void *argument) {
  unsigned self = (unsigned)(size_t)argument;
  if (bind)
    bindTo(self);
  for (unsigned round = 1; round <= rounds; ++round) {
    came[self] = round;
    if (mpg_barrier_wait(barriers[0], self))
      wrong("mpg_barrier_wait");
    for (unsigned other = 0; other < threads; ++other)
      if (came[other] != round)
        wrong("left before all had come");
    mpg_barrier_wait(barriers[1], self);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t team[max];
  if (argc != 4)
    return 2;
  threads = (unsigned)atoi(argv[1]);
  rounds = (unsigned)atoi(argv[2]);
  bind = strcmp(argv[3], "bound") == 0;
  if (threads > max || mpg_barrier_init(&barriers[0], threads) ||
      mpg_barrier_init(&barriers[1], threads))
    wrong("mpg_barrier_init");
  for (size_t i = 0; i < threads; ++i)
    if (pthread_create(&team[i], NULL, work, (void *)i))
      wrong("pthread_create");
  for (size_t i = 0; i < threads; ++i)
    pthread_join(team[i], NULL);
  if (mpg_barrier_wait(barriers[0], threads) == 0)
    wrong("a thread that is not of the team");
  printf("%s\n", mpg_barrier_kind(barriers[0]));
  mpg_barrier_destroy(barriers[0]);
  mpg_barrier_destroy(barriers[1]);
  printf("right\n");
  return 0;
}
