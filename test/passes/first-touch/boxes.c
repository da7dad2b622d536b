// Boxes that hold as many atoms as a count gives, and rows that a serial loop fills
// behind other loops: an array whose parts are partly used is still divided in parts, and
// loops over it that differ in nothing else divide it alike.
// RUN: %remarks %s | FileCheck %s --implicit-check-not=may_stop
// RUN: %remarks %s | FileCheck %s --check-prefix=ALIKE
// RUN: %same-args --args 20000 --args 4 -- %c-program %s | FileCheck %s --check-prefix=SAME
// ALIKE-NOT: {{^(boxes|behind_loops).*(NotBlock|Mismatched)}}
// SAME: same: 40 runs
#include <stdio.h>
#include <stdlib.h>
#define CASE __attribute__((noinline)) double
#define ROOM 64

// CHECK: boxes: calls 1, {{.*}}FirstTouchInserted@[[#@LINE+2]]
CASE boxes(long n, const int *count) {
  double *r = malloc(n * ROOM * sizeof(double));
  for (long i = 0; i < n * ROOM; ++i) r[i] = i;
#pragma omp parallel for
  for (long box = 0; box < n; ++box)
    for (long i = 0; i < ROOM; ++i) r[box * ROOM + i] += 1;
#pragma omp parallel for
  for (long box = 0; box < n; ++box)
    for (long i = box * ROOM, k = 0; k < count[box]; ++k, ++i)
      r[i] = r[i] * r[i] + 1;
  double last = n ? r[n * ROOM - ROOM] : 0;
  free(r);
  return last;
}

// The k-th elements of all lie together, so each iteration works all over the array.
// CHECK: layers: {{.*}}Mismatched
CASE layers(long n, const int *count) {
  double *r = malloc(n * ROOM * sizeof(double));
  for (long i = 0; i < n * ROOM; ++i) r[i] = i;
#pragma omp parallel for
  for (long i = 0; i < n * ROOM; ++i) r[i] += 1;
#pragma omp parallel for
  for (long box = 0; box < n; ++box)
    for (long k = 0; k < count[box]; ++k)
      r[k * n + box] = r[k * n + box] * r[k * n + box] + 1;
  double last = n ? r[n * ROOM - ROOM] : 0;
  free(r);
  return last;
}

// CHECK: behind_loops: calls 1, {{.*}}FirstTouchInserted@[[#@LINE+2]]
CASE behind_loops(int x, int y, const int *wanted) {
  double *b = malloc((size_t)x * y * sizeof(double));
  for (int i = 0; i < y; ++i)
    for (int j = 0; j < x; ++j) {
      int found = 0;
      for (int k = -1; k < wanted[j % 16]; ++k)
        if (wanted[(k + 1) % 16] & 1) ++found;
      b[i * x + j] = 27 - found;
    }
#pragma omp parallel for
  for (int i = 0; i < x * y; ++i) b[i] = b[i] * b[i] + 1;
  double last = x * y ? b[x * y - 1] : 0;
  free(b);
  return last;
}

// The loop in front may leave the one around it: not all is written then.
CASE may_stop(int x, int y, const int *wanted) {
  double *b = malloc((size_t)x * y * sizeof(double));
  if (!b) return 0;
  for (int i = 0; i < y; ++i)
    for (int j = 0; j < x; ++j) {
      for (int k = 0; k < wanted[j % 16]; ++k)
        if (wanted[k % 16] < 0) goto done;
      b[i * x + j] = wanted[j % 16];
    }
done:;
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < x * y; ++i) sum += b[i];
  free(b);
  return sum;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 20000;
  int *count = malloc((n + 16) * sizeof(int));
  for (long i = 0; i < n + 16; ++i) count[i] = (int)(i * 7 % 20);
  printf("%f %f %f\n", boxes(n, count), layers(n, count),
         behind_loops((int)n, 40, count));
  printf("%f\n", may_stop((int)n, 40, count));
  free(count);
}
// CHECK: end
