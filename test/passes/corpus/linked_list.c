// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linked lists: insert sorted, reverse, remove through a pointer to a pointer.
#include <stdio.h>
#include <stdlib.h>

struct Item {
  struct Item *next;
  int value;
  short weights[6];
};

static void insert(struct Item **place, int value) {
  while (*place && (*place)->value < value)
    place = &(*place)->next;
  struct Item *item = malloc(sizeof(*item));
  item->value = value;
  item->next = *place;
  for (int i = 0; i < 6; ++i)
    item->weights[i] = (short)(value * i);
  *place = item;
}

static struct Item *reverse(struct Item *list) {
  struct Item *done = NULL;
  while (list) {
    struct Item *next = list->next;
    list->next = done;
    done = list;
    list = next;
  }
  return done;
}

static int removeOdd(struct Item **place) {
  int removed = 0;
  while (*place) {
    struct Item *item = *place;
    if (item->value % 2 == 0) {
      place = &item->next;
      continue;
    }
    *place = item->next;
    free(item);
    ++removed;
  }
  return removed;
}

int main(void) {
  struct Item *list = NULL;
  unsigned state = 12345;
  for (int i = 0; i < 600; ++i) {
    state = state * 1103515245u + 12345u;
    insert(&list, (int)(state >> 16 & 4095));
  }
  list = reverse(list);
  int removed = removeOdd(&list);
  long sum = 0, weighted = 0;
  int last = 1 << 20, length = 0, *values = malloc(600 * sizeof(int));
  for (struct Item *item = list; item; item = item->next, ++length) {
    if (item->value > last || item->value % 2)
      return 1;
    last = values[length] = item->value;
    for (int i = 0; i < 6; ++i)
      sum += item->weights[i];
  }
  for (int i = 0; i < length; ++i)
    weighted += (long)values[i] * i;
  printf("%d removed, %d left, sums %ld and %ld\n", removed, length, sum,
         weighted);
  free(values);
  return removed + length == 600 ? 0 : 2;
}
