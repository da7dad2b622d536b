// If several functions fill a global array, the call goes in front of the one that runs
// first, whatever their order in the file: after it the pages have their places.
// RUN: %remarks %s | %expect %s
#include <stdio.h>
#define N 4000000
#define OUT __attribute__((noinline))
double a[N], b[N];
OUT void second(void) {
  for (long i = 0; i < N; i++) a[i] = i;
}
// CHECK: first: calls 0, FirstTouchInserted@[[#@LINE+2]], SerialFirstTouch@[[#@LINE+2]]
OUT void first(void) {
  for (long i = 0; i < N; i++) a[i] += 1;
}
// Some of the pages of b are there before any call for all of it could stand.
OUT void some(const char *word) {
  for (long i = 0; i < N; i++)
    if (word[i % 3] == 'x') b[i] = 1;
}
// CHECK-NEXT: all_of: calls 0, SerialFirstTouch@[[#@LINE+2]]
OUT void all_of(void) {
  for (long i = 0; i < N; i++) b[i] += i;
}
// CHECK-NEXT: main: calls 1
int main(int count, char **words) {
  first();
  puts("between");
  second();
#pragma omp parallel for schedule(static)
  for (long i = 0; i < N; i++) a[i] *= 2;
  some(words[0]);
  all_of();
#pragma omp parallel for schedule(static)
  for (long i = 0; i < N; i++) b[i] *= 2;
  printf("%f %f\n", a[N / 2], b[N / 3]);
}
// CHECK-NEXT: end
