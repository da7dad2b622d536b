// Global arrays are zero without being touched: the first statement that writes them
// places them. The call goes before it; initialised in parallel they need none.
// RUN: %remarks %s | %expect %s
// RUN: %remarks -x c++ %s | %expect %s
// RUN: %remarks -DREPAIRED %s | %expect %s --check-prefix=REPAIRED
// RUN: %same %s | FileCheck %s --check-prefix=SAME
// RUN: %same -DREPAIRED %s | FileCheck %s --check-prefix=SAME
// SAME: same: 20 runs
#include <stdio.h>

#ifdef REPAIRED
#define PARALLEL _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL
#endif
#define N 2000000
static double a[N];
static float b[100][N / 50];
// In .data: its pages come out of the file, with their contents.
static double given[N] = {1, 2, 3};
// Below the size from which the place matters.
static double small[1000];

int main(int argc, char **argv) {
  const int few = 999 + argc;
  // CHECK: main: calls 2, {{(FirstTouchInserted@[0-9]+, )*}}SerialFirstTouch@[[#@LINE+2]]{{(, FirstTouchInserted@[0-9]+)*}}, SerialFirstTouch@[[#@LINE+5]]{{(, FirstTouchInserted@[0-9]+)*}}
  PARALLEL
  for (int i = 0; i < N; ++i) a[i] = i;
  PARALLEL
  for (int r = 0; r < 100; ++r)
    for (int i = 0; i < N / 50; ++i) b[r][i] = r + i % 16;
  for (int i = 3; i < N; ++i) given[i] = i % 5;
  for (int i = 0; i < few; ++i) small[i] = i;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; ++i) a[i] += 1;
#pragma omp parallel for schedule(static)
  for (int r = 0; r < 100; ++r)
    for (int i = 0; i < N / 50; ++i) b[r][i] *= 2;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; ++i) given[i] += 1;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < few; ++i) small[i] += 1;
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += a[i] + given[i] + b[i % 100][i / 100];
  printf("%.1f %.1f\n", sum, small[few - 1]);
}
// CHECK: end
// REPAIRED: end
