/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A server with threads that come and go: two at a time replace objects of 16
 * to 500 bytes at random in a table of their own; after some work each one
 * starts its successor, hands the table over and ends. So most objects are
 * freed by another thread than the one, long gone, that allocated them.
 */
#include "allocBench.h"

#define TABLES 2
#define OBJECTS 5000
#define STEPS 60000
#define GENERATIONS 240

struct Table {
  char *objects[OBJECTS];
  uint64_t random;
  int generation;
  pthread_t next;
};

static struct Table tables[TABLES];

static void *serve(void *argument) {
  struct Table *table = argument;
  for (int i = 0; i < STEPS; i++) {
    uint64_t number = nextRandom(&table->random);
    char **slot = &table->objects[number % OBJECTS];
    size_t bytes = 16 + (number >> 20) % 485;
    free(*slot);
    *slot = getBlock(bytes);
    markBlock(*slot, bytes);
  }
  if (++table->generation == GENERATIONS)
    return NULL;
  pthread_t *successor = getBlock(sizeof *successor);
  if (pthread_create(successor, NULL, serve, table))
    exit(3);
  return successor;
}

static void awaitAll(pthread_t thread) {
  void *successor;
  while (!pthread_join(thread, &successor) && successor) {
    thread = *(pthread_t *)successor;
    free(successor);
  }
}

int main(void) {
  for (unsigned i = 0; i < TABLES; i++) {
    tables[i].random = randomSeed(i);
    if (pthread_create(&tables[i].next, NULL, serve, &tables[i]))
      return 3;
  }
  for (unsigned i = 0; i < TABLES; i++) {
    awaitAll(tables[i].next);
    for (int k = 0; k < OBJECTS; k++)
      free(tables[i].objects[k]);
  }
  return 0;
}
