// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash table with open addressing that grows; keys are strings.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Entry {
  char *key;
  long value;
};
struct Table {
  struct Entry *entries;
  size_t size, used;
};

static size_t hash(const char *text) {
  size_t value = 14695981039346656037u;
  for (; *text; ++text)
    value = (value ^ (unsigned char)*text) * 1099511628211u;
  return value;
}

static struct Entry *find(struct Table *table, const char *key) {
  size_t i = hash(key) % table->size;
  while (table->entries[i].key && strcmp(table->entries[i].key, key) != 0)
    i = (i + 1) % table->size;
  return &table->entries[i];
}

static void grow(struct Table *table) {
  struct Table bigger = {calloc(2 * table->size, sizeof(struct Entry)),
                         2 * table->size, table->used};
  for (size_t i = 0; i < table->size; ++i)
    if (table->entries[i].key)
      *find(&bigger, table->entries[i].key) = table->entries[i];
  free(table->entries);
  *table = bigger;
}

static void add(struct Table *table, const char *key, long value) {
  if (2 * table->used >= table->size)
    grow(table);
  struct Entry *entry = find(table, key);
  if (!entry->key) {
    entry->key = malloc(strlen(key) + 1);
    strcpy(entry->key, key);
    ++table->used;
  }
  entry->value += value;
}

int main(void) {
  struct Table table = {calloc(8, sizeof(struct Entry)), 8, 0};
  char key[32];
  for (int i = 0; i < 20000; ++i) {
    snprintf(key, sizeof(key), "key-%d", i * 37 % 3001);
    add(&table, key, i);
  }
  long sum = 0, weighted = 0;
  for (size_t i = 0; i < table.size; ++i)
    if (table.entries[i].key) {
      sum += table.entries[i].value;
      weighted += (long)i % 97 * table.entries[i].value;
    }
  printf("%zu of %zu, sum %ld, weighted %ld\n", table.used, table.size, sum,
         weighted);
  return sum == 19999L * 20000 / 2 && table.used == 3001 ? 0 : 1;
}
