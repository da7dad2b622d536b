/* A libmpg that only prints its arguments. */
#include <mpg/pass.h>
#include <stdio.h>

static int depth;

int mpg_sector_begin(const struct mpg_ways *w) {
  fprintf(stderr, "begin %d %d %d %d %d %d: %d\n", w->l1[0], w->l1[1], w->l1[2],
          w->l1[3], w->l2[0], w->l2[1], depth);
  return depth++;
}

void mpg_sector_end(int token) {
  if (token < 0)
    return;
  fprintf(stderr, "end %d\n", token);
  depth = token;
}
