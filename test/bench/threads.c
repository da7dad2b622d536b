// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads with little to do, for threads.py.
//
//   threads turns COUNT BYTES   COUNT threads, one after the other; prints the
//                               microseconds of processor time that one takes
//   threads crowd COUNT BYTES   COUNT at once, each with a page of its stack in
//                               use; prints the KiB of memory that one takes
//
// BYTES is the size of a stack; 0: pthread_create without attributes.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *turn(void *argument) { return argument; }

static void *stay(void *argument) {
  pthread_barrier_wait(&barrier); // all are there
  pthread_barrier_wait(&barrier); // and have been looked at
  return argument;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/// Normal and transparent pages of this process, and hugetlb ones.
static long memoryKib(void) {
  long sum = 0, kib;
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "VmRSS: %ld", &kib) == 1 ||
        sscanf(line, "HugetlbPages: %ld", &kib) == 1)
      sum += kib;
  if (status)
    fclose(status);
  return sum;
}

static void start(pthread_t *thread, const pthread_attr_t *attributes,
                  void *(*function)(void *)) {
  int error = pthread_create(thread, attributes, function, NULL);
  if (error) {
    fprintf(stderr, "threads: pthread_create: %s\n", strerror(error));
    exit(1);
  }
}

static void runTurns(long count, const pthread_attr_t *attributes) {
  double begin = now();
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    start(&thread, attributes, turn);
    pthread_join(thread, NULL);
  }
  printf("%.2f\n", (now() - begin) / count);
}

static void gather(long count, const pthread_attr_t *attributes) {
  pthread_t *threads = malloc(sizeof(pthread_t) * count);
  pthread_barrier_init(&barrier, NULL, count + 1);
  long before = memoryKib();
  for (long i = 0; i < count; ++i)
    start(&threads[i], attributes, stay);
  pthread_barrier_wait(&barrier);
  printf("%.1f\n", (double)(memoryKib() - before) / count);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: threads turns|crowd COUNT BYTES\n");
    return 2;
  }
  long count = atol(argv[2]), bytes = atol(argv[3]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (bytes && pthread_attr_setstacksize(&attributes, bytes))
    return 2;
  if (argv[1][0] == 't')
    runTurns(count, bytes ? &attributes : NULL);
  else
    gather(count, bytes ? &attributes : NULL);
  return 0;
}
