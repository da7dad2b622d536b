// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first block for which an arena grows, in a large page in front of the
// arena's own. With blocks of 1 MiB and more in separate large pages:
//
//   front | arena: aligned, filling | after

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kib = 1 << 10, mib = 1 << 20 };

int main(void) {
  void *front = malloc(mib), *aligned = NULL;
  // An aligned one is not moved to a place that cannot be guessed.
  if (posix_memalign(&aligned, 64 * kib, 300 * kib) != 0)
    return 1;
  void *after = malloc(mib);
  for (int i = 0; i < 4; ++i)
    if (!malloc(430 * kib))
      return 1;
  free(front);
  free(aligned); // not enough for the next one, together with `front` more
  char *first = malloc(400 * kib);
  if (!first || (char *)aligned - first < 0 ||
      (char *)aligned - first > 2 * mib)
    return puts("wrong: not in front"), 1;
  memset(first, 1, 400 * kib);
  free(first);
  free(after);
  return puts("in front"), 0;
}
