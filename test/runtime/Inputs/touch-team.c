/* mpg_first_touch from inside a parallel region, for a number of threads that
 * is not the default, for one that the program has set, and from two threads at
 * once. Prints `right`. */

#define _GNU_SOURCE
#include "touch.h"
#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>

enum { bytes = 12 << 20, max = 64 };
static long faults[max];

static char *map(void) {
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static void count(int threads, int sign) {
#pragma omp parallel num_threads(threads)
  {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    faults[omp_get_thread_num()] += sign * usage.ru_minflt;
  }
}

/* asked: the number passed to mpg_first_touch; 0 is the team's usual size. */
static int isSharedOutOver(int threads, int asked) {
  long share = bytes / getpagesize() / threads;
  char *memory = map();
  memset(faults, 0, sizeof faults);
  count(threads, 0);
  count(threads, -1);
  mpg_first_touch(memory, bytes, 0, 8, 0, (uint32_t)asked);
  count(threads, 1);
  for (int thread = 0; thread < threads; ++thread)
    if (faults[thread] < share || faults[thread] > share + 6)
      return printf("wrong: thread %d of %d: %ld page faults, not %ld\n",
                    thread, threads, faults[thread], share),
             0;
  return 1;
}

static void *touchAll(void *memory) {
  for (int i = 0; i < 50; ++i) {
    mpg_first_touch(memory, bytes, 1, 8, 1000, 3);
    madvise(memory, bytes, MADV_DONTNEED);
  }
  mpg_first_touch(memory, bytes, 0, 8, 0, 0);
  return NULL;
}

int main(void) {
  char *memory = map(), *other = map();
  pthread_t thread;
#pragma omp parallel num_threads(2)
  mpg_first_touch(memory, bytes, 0, 8, 0, 0);
  if (presentPages(memory, bytes))
    return puts("wrong: something is done inside of a parallel region"), 1;
  for (int threads = 1; threads <= 6; threads += threads < 4 ? 1 : 2)
    if (!isSharedOutOver(threads, threads))
      return 1;
  if (!isSharedOutOver(omp_get_max_threads(), 0))
    return 1;
  omp_set_num_threads(5);
  if (!isSharedOutOver(5, 0) || !isSharedOutOver(3, 3))
    return 1;
  if (pthread_create(&thread, NULL, touchAll, memory))
    return 2;
  touchAll(other);
  pthread_join(thread, NULL);
  size_t all = bytes / (size_t)getpagesize();
  if (presentPages(memory, bytes) != all || presentPages(other, bytes) != all)
    return puts("wrong: two threads at once"), 1;
  puts("right");
  return 0;
}
