// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Binary search trees in a pool: insert, rotate, walk with a stack of pointers.
#include <stdio.h>
#include <stdlib.h>

struct Node {
  struct Node *children[2];
  unsigned key, priority;
};

static struct Node pool[2000];
static int used;

static struct Node *insert(struct Node *tree, unsigned key, unsigned priority) {
  if (!tree) {
    struct Node *fresh = &pool[used++];
    fresh->key = key;
    fresh->priority = priority;
    return fresh;
  }
  if (key == tree->key)
    return tree;
  int side = key > tree->key;
  struct Node *child = insert(tree->children[side], key, priority);
  tree->children[side] = child;
  if (child->priority <= tree->priority)
    return tree;
  tree->children[side] = child->children[!side];
  child->children[!side] = tree;
  return child;
}

static int walk(struct Node *tree, unsigned *keys) {
  struct Node *stack[200];
  int depth = 0, count = 0;
  while (tree || depth) {
    while (tree) {
      stack[depth++] = tree;
      tree = tree->children[0];
    }
    tree = stack[--depth];
    keys[count++] = tree->key;
    tree = tree->children[1];
  }
  return count;
}

int main(void) {
  struct Node *tree = NULL;
  unsigned state = 1, *keys = malloc(sizeof(unsigned) * 2000);
  for (int i = 0; i < 1900; ++i) {
    state = state * 1664525u + 1013904223u;
    tree = insert(tree, state % 5000, state >> 8);
  }
  int count = walk(tree, keys);
  unsigned long mix = 0;
  for (int i = 0; i < count; ++i)
    mix = mix * 31 + keys[i];
  for (int i = 1; i < count; ++i)
    if (keys[i - 1] >= keys[i])
      return 1;
  printf("%d keys, %lu\n", count, mix);
  free(keys);
  return count == used ? 0 : 2;
}
