// The tag must neither be added inside the innermost loop of an insertion sort
// nor be lost there: the data decide where the loop ends.
// RUN: %same-loops -O3
// RUN: %tagged %t.s --loops --tag 0x01 --at-least 2
// RUN: %tagged %t.s --loops --tag 0x21 --at-least 2

#include <mpg/hints.h>

void insertionSort(MPG_STREAM int *keys,
                   MPG_HINT(sector=1, no_l2_hwpf) int *values, long n) {
  for (long i = 1; i < n; i++) {
    int key = keys[i], value = values[i];
    long j = i;
    for (; j > 0 && keys[j - 1] > key; j--) {
      keys[j] = keys[j - 1];
      values[j] = values[j - 1];
    }
    keys[j] = key;
    values[j] = value;
  }
}
