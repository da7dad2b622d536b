// A function that fills what it allocates leaves nothing to place for its callers: one call
// follows the allocation itself, for all arrays from there, or none, and a remark claims no more
// than that. Otherwise a call after the function's call touches pages that are already present.
// RUN: %remarks %s | %expect %s
// RUN: %same-args --args "700000" -- %c-program %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OUT __attribute__((noinline))
#define USE(a)                                                                 \
  _Pragma("omp parallel for schedule(static)")                                 \
  for (long i = 0; i < n; ++i) a[i] += 1

static OUT void work(double *a, long n) { USE(a); }

// Allocates, fills, uses, and is called from here and perhaps from elsewhere.
// CHECK: makes_and_uses: calls 1, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+3]]
OUT double *makes_and_uses(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  work(a, n);
  return a;
}

// Called once, and from nowhere else.
// CHECK-NEXT: filled_once: calls 1, SerialFirstTouch@[[#@LINE+3]]
static OUT double *filled_once(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  return a;
}

// All of its arrays are used alike.
// CHECK-NEXT: filled_alike: calls 1, SerialFirstTouch@[[#@LINE+3]]
static OUT void *filled_alike(long bytes) {
  void *a = malloc(bytes);
  memset(a, 1, bytes);
  return a;
}

// One is used by one thread only.
// CHECK-NEXT: filled_otherwise: calls 0, SerialFirstTouch@[[#@LINE+3]]
static OUT void *filled_otherwise(long bytes) {
  void *a = malloc(bytes);
  memset(a, 1, bytes);
  return a;
}

// Nobody knows what other files do with theirs.
// CHECK-NEXT: filled_for_all: calls 0, SerialFirstTouch@[[#@LINE+3]]
OUT double *filled_for_all(long n) {
  double *a = malloc(n * sizeof(double));
  for (long i = 0; i < n; ++i) a[i] = i;
  return a;
}

// Writes one number, so that its callers still have a choice.
static OUT double *marked(long n) {
  double *a = malloc(n * sizeof(double));
  if (!a) exit(1);
  a[0] = 1;
  return a;
}

// CHECK-NEXT: main: calls 1, FirstTouchInserted@[[#@LINE+4]], FirstTouchInserted@[[#@LINE+5]], FirstTouchInserted@[[#@LINE+6]], FirstTouchInserted@[[#@LINE+10]], SerialFirstTouch@[[#@LINE+11]]
int main(int count, char **words) {
  long n = count > 1 ? atol(words[1]) : 1000;
  double *first = makes_and_uses(n);
  double *once = filled_once(n);
  double *one = filled_alike(n * sizeof(double));
  double *other = filled_alike(n * sizeof(double));
  double *shared = filled_otherwise(n * sizeof(double));
  double *mine = filled_otherwise(n * sizeof(double));
  double *all = filled_for_all(n);
  double *header = marked(n);
  for (long i = 0; i < n; ++i) header[i] = i;
  USE(once);
  USE(one);
  USE(other);
  USE(shared);
  USE(all);
  USE(header);
  work(first, n);
  for (long i = 0; i < n; ++i) mine[i] += shared[i];
  printf("%g %g %g %g %g %g %g\n", first[n - 1], once[n / 2], one[1], other[2],
         mine[n - 3], all[n / 3], header[n - 1]);
}
