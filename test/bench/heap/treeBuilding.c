/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Binary trees with nodes of 32 to 64 bytes are built, walked and freed while
 * one large tree stays: what interpreters and solvers with pointers do. Walking
 * them shows how close together the nodes are.
 */
#include "allocBench.h"

#define LONG_LIVED_DEPTH 17
#define SHORT_DEPTH 12
#define TREES 1200

struct Node {
  struct Node *left, *right;
  uint64_t value;
};

static uint64_t seed;

static struct Node *build(int depth) {
  uint64_t number = nextRandom(&seed);
  struct Node *node = getBlock(32 + number % 33);
  node->value = number;
  node->left = depth ? build(depth - 1) : NULL;
  node->right = depth ? build(depth - 1) : NULL;
  return node;
}

static uint64_t walk(const struct Node *node) {
  return node ? node->value + walk(node->left) + walk(node->right) : 0;
}

static void freeTree(struct Node *node) {
  if (!node)
    return;
  freeTree(node->left);
  freeTree(node->right);
  free(node);
}

int main(void) {
  uint64_t sum = 0;
  seed = randomSeed(0);
  struct Node *standing = build(LONG_LIVED_DEPTH);
  for (int i = 0; i < TREES; i++) {
    struct Node *tree = build(SHORT_DEPTH);
    sum += walk(tree);
    freeTree(tree);
    if (i % 50 == 0)
      sum += walk(standing);
  }
  freeTree(standing);
  printf("sum=%llu\n", (unsigned long long)sum);
  return 0;
}
