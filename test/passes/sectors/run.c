// Where sizes are known only when the program runs, it sets the ways only if they fit,
// and ends them. It computes the same.
// REQUIRES: qemu-aarch64, aarch64-linux-gnu-gcc
// RUN: cd %t
// RUN: %plain-c -O2 -c %inputs/sector_calls.c
// DEFINE: %{options} = -O2
// DEFINE: %{plugin} = -g
// DEFINE: %{run} = env MPG_PASS_OPTIONS=sector=auto,verify=on %hinted-c %{options} -c %s -o run.o && env MPG_PASS_OPTIONS=sector=auto,verify=on %clang --target=aarch64-linux-gnu %{options} -static -fuse-ld=lld --ld-path=%lld %{plugin} run.o sector_calls.o -o run && %run512 ./run > out 2>&1 && FileCheck %s < out
// RUN: %{run}
// RUN: %plain-c -O2 -static %s sector_calls.o -o plain && %run512 ./plain > plain.out && grep -v -E 'begin|end' out | diff - plain.out
// REDEFINE: %{plugin} = -Wl,--load-pass-plugin=%passes
// REDEFINE: %{options} = -O2 -flto=full
// RUN: %{run}
// REDEFINE: %{options} = -O2 -flto=thin
// RUN: %if llvm-22 %{ %{run} %}
#include <stdio.h>
#include <stdlib.h>

/// Rows of a sparse matrix; the length of x is known once this is inlined.
static void multiply(const int *restrict begin, const double *restrict v, const int *restrict c,
                     const double *restrict x, double *restrict y, int rows) {
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int k = begin[r]; k < begin[r + 1]; k++) sum += v[k] * x[c[k]];
    y[r] = sum;
  }
}

static void matrix(int rows, int perRow) {
  int all = rows * perRow;
  int *begin = malloc((rows + 1L) * sizeof *begin), *c = malloc(all * sizeof *c);
  double *v = malloc(all * sizeof *v), *x = malloc(rows * sizeof *x), *y = malloc(rows * sizeof *y);
  for (int i = 0; i <= rows; i++) begin[i] = i * perRow;
  for (int i = 0; i < all; i++) c[i] = (int)(i * 7919L % rows), v[i] = i;
  for (int i = 0; i < rows; i++) x[i] = i;
  multiply(begin, v, c, x, y, rows);
  printf("%g\n", rows ? y[rows / 2] : 0);
  free(begin), free(c), free(v), free(x), free(y);
}

__attribute__((noinline)) void product(double *restrict y, const double *restrict x,
                                       const double *restrict a, long n, long m) {
  for (long i = 0; i < n; i++) {
    double sum = 0;
    for (long j = 0; j < m; j++) sum += a[i * m + j] * x[j];
    y[i] = sum;
  }
}

int main(void) {
  setbuf(stdout, NULL);
  // CHECK: small
  // CHECK-NOT: {{begin|end}}
  // CHECK: 4 MB
  // CHECK-NEXT: begin 255 255 255 255 254 1: 0
  // CHECK-NEXT: end 0
  puts("small"), matrix(1000, 5), matrix(0, 5);
  puts("4 MB"), matrix(500000, 3);
  // CHECK: 8 MB
  // CHECK-NOT: {{begin|end}}
  puts("8 MB"), matrix(1000000, 3);
  static double y[8], x[600000], a[6 * 600000];
  for (long i = 0; i < 6 * 600000; i++) a[i] = i % 13;
  for (long i = 0; i < 600000; i++) x[i] = i % 7;
  // CHECK: product
  // CHECK-NEXT: begin 255 255 255 255 254 1: 0
  // CHECK-NEXT: end 0
  // CHECK-NOT: {{begin|end}}
  puts("product"), product(y, x, a, 6, 600000), printf("%g\n", y[3]);
  product(y, x, a, 8, 60000), product(y, x, a, 0, 600000), product(y, x, a, 3, 0);
  // CHECK: none
  puts("none");
}
