// few-mappings LEFT: uses up the process's mappings until LEFT are left, then
// allocates blocks and runs three threads at once. Ends with 1 if one of these
// fails.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { pageBytes = 64 << 10, maxPages = 70000, threads = 3, blocks = 40 };

static sem_t runs;

static void *stay(void *barrier) {
  sem_post(&runs);
  pthread_barrier_wait(barrier);
  return 0;
}

int main(int argc, char **argv) {
  (void)argc;
  int left = atoi(argv[1]), failed = 0, count = 0;
  char *area = mmap(0, (size_t)maxPages * pageBytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  long page = 0;
  while (page < maxPages &&
         !mprotect(area + page * pageBytes, pageBytes, PROT_READ))
    page += 2;
  // Each one less joins three mappings to one.
  for (; left > 0; left -= 2)
    mprotect(area + (page -= 2) * pageBytes, pageBytes, PROT_NONE);
  for (int i = 0; i < blocks; ++i) {
    char *block = malloc(30000);
    if (!block)
      return 1;
    memset(block, 1, 30000);
  }
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, 0, threads);
  pthread_t all[threads];
  for (; count < threads; ++count) {
    if (pthread_create(all + count, 0, stay, &barrier))
      return 1;
    sem_wait(&runs);
  }
  for (int i = 0; i < threads; ++i)
    failed |= pthread_join(all[i], 0);
  return failed != 0;
}
