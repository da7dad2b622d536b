// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// thread-crowd COUNT BYTES: COUNT threads at once, each with a page of its
// stack in use. Prints the KiB of memory that one takes. BYTES is the size of a
// stack; 0: pthread_create without attributes.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;

static void *stay(void *argument) {
  pthread_barrier_wait(&barrier); // all are there
  pthread_barrier_wait(&barrier); // and have been looked at
  return argument;
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

int main(int argc, char **argv) {
  long count = argc == 3 ? atol(argv[1]) : 0, bytes = atol(argv[argc - 1]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (!count || (bytes && pthread_attr_setstacksize(&attributes, bytes)))
    return 2;
  pthread_t *threads = malloc(sizeof(pthread_t) * count);
  pthread_barrier_init(&barrier, NULL, count + 1);
  long before = memoryKib();
  for (long i = 0; i < count; ++i)
    if (pthread_create(&threads[i], bytes ? &attributes : NULL, stay, NULL))
      return 1;
  pthread_barrier_wait(&barrier);
  printf("%.1f\n", (double)(memoryKib() - before) / count);
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
