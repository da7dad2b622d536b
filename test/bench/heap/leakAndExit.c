/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Short-lived threads, two at a time, allocate lists of blocks of 16 to 2000
 * bytes, leave them behind and end. The main thread frees the lists some
 * threads later. Does what ended threads had come back into use?
 */
#include "allocBench.h"

#define RUNS 400
#define AT_ONCE 2
#define BLOCKS 6000
#define KEPT 8

struct Link {
  struct Link *next;
};

static void *leak(void *argument) {
  uint64_t random = randomSeed((uintptr_t)argument);
  struct Link *first = NULL;
  for (int i = 0; i < BLOCKS; i++) {
    size_t bytes = 16 + nextRandom(&random) % 1985;
    struct Link *link = getBlock(bytes);
    link->next = first;
    first = link;
  }
  return first;
}

static void freeList(struct Link *link) {
  while (link) {
    struct Link *next = link->next;
    free(link);
    link = next;
  }
}

int main(void) {
  struct Link *kept[KEPT] = {NULL};
  for (uintptr_t run = 0; run < RUNS; run += AT_ONCE) {
    pthread_t threads[AT_ONCE];
    for (uintptr_t i = 0; i < AT_ONCE; i++)
      if (pthread_create(&threads[i], NULL, leak, (void *)(run + i)))
        return 3;
    for (uintptr_t i = 0; i < AT_ONCE; i++) {
      void *list;
      pthread_join(threads[i], &list);
      freeList(kept[(run + i) % KEPT]);
      kept[(run + i) % KEPT] = list;
    }
  }
  for (int i = 0; i < KEPT; i++)
    freeList(kept[i]);
  return 0;
}
