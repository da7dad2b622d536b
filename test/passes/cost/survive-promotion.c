// LICM keeps an element in a register for the length of a loop. The load before
// the loop and the store after it are new instructions; here the hint of what they
// replace gets lost, although the outer loop writes the whole array.
// RUN: %a64fx %hints -O1 -S %s -o %t.1.s
// RUN: %a64fx %hints -O3 -S %s -o %t.3.s
// RUN: %a64fx %hints -Os -S %s -o %t.s.s
//
// RUN: %tagged %t.1.s --function rowSums --loops --tag 0x41 --at-least 2
// RUN: %tagged %t.3.s --function rowSums --loops --tag 0x41 --at-least 2
// RUN: %tagged %t.s.s --function rowSums --loops --tag 0x41 --at-least 2
//
// An array without a hint does not get one because of its neighbour's.
// RUN: %tagged %t.1.s --function plainSums --loops --tag 0x01 --at-least 1 --at-most 1
// RUN: not %tagged %t.1.s --function plainSums --loops --all

#include <mpg/hints.h>

void rowSums(const double *restrict matrix,
             MPG_HINT(sector=1, no_l1_hwpf) double *restrict sums, long rows,
             long columns) {
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++)
      sums[i] += matrix[i * columns + j];
}

void plainSums(MPG_STREAM const double *restrict matrix, double *restrict sums,
               long rows, long columns) {
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < columns; j++)
      sums[i] += matrix[i * columns + j];
}
