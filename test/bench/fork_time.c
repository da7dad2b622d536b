// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forks 400 times: the median time of a fork and its child's end, and the
// processor time.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char data[1 << 20] = {1}, bss[1 << 20];
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
static double processorUs(void) {
  double sum = 0;
  for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; ++who) {
    struct rusage use;
    getrusage(who, &use);
    sum += (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           use.ru_utime.tv_usec + use.ru_stime.tv_usec;
  }
  return sum;
}
static int compare(const void *a, const void *b) {
  long x = *(const long *)a, y = *(const long *)b;
  return (x > y) - (x < y);
}
static void *idle(void *unused) {
  for (;;)
    pause();
  return unused;
}
static void forkOnce(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  int status;
  waitpid(child, &status, 0);
}
int main(int count, char **values) {
  enum { forks = 400 };
  static long times[forks];
  char *heap = malloc(1 << 20);
  memset(data, 1, sizeof data);
  memset(bss, 1, sizeof bss);
  memset(heap, 1, 1 << 20);
  for (int i = 0; i < atoi(values[1]); ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, idle, NULL);
  }
  forkOnce();
  double before = processorUs();
  for (int i = 0; i < forks; ++i) {
    long start = now();
    forkOnce();
    times[i] = now() - start;
  }
  double processor = (processorUs() - before) / forks;
  qsort(times, forks, sizeof *times, compare);
  printf("%.1f %.1f\n", times[forks / 2] / 1e3, processor);
  return count == 0;
}
