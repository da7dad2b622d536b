// In a parallel region the ways are set in front of it, by what the function around it
// knows. Loops that several threads may run at once, and regions in regions, stay as they
// are.
// REQUIRES: qemu-aarch64, aarch64-linux-gnu-gcc
// RUN: cd %t
// RUN: env MPG_PASS_OPTIONS=sector=auto,verify=on %hinted-c -O2 -g -fopenmp -Rpass=mpg -Rpass-missed=mpg -S -emit-llvm %s -o out.ll 2> said
// RUN: FileCheck %s --check-prefix=SAID < said && FileCheck %s --input-file=out.ll
#include <stdlib.h>
double table[4 << 17], values[4 << 20], out[4 << 20];
int at[4 << 20];

// Before the fork, after it, and not in the region.
// CHECK-LABEL: define {{.*}} @constant(
// CHECK: call {{.*}}@mpg_sector_begin
// CHECK: call {{.*}}@__kmpc_fork_call({{.*}} @[[BODY:constant.omp_outlined]]
// CHECK: call {{.*}}@mpg_sector_end
// CHECK: define internal void @[[BODY]](
// CHECK-NOT: mpg_sector
// CHECK-LABEL: define {{.*}} @asked(
// SAID-DAG: openmp.c:[[#@LINE+2]]:1: remark: sector 1 gets 2 of 14 ways of L2 for {{.*}}, used once, beside table
void constant(void) {
#pragma omp parallel for
  for (long i = 0; i < 4 << 20; i++) out[i] += table[at[i]] * values[i];
}
// The loads in front of the region happen only if there is a row.
// CHECK: icmp sgt i32 {{.*}}, -1
// CHECK: call {{.*}}@mpg_sector_begin
// CHECK: call {{.*}}@__kmpc_fork_call({{.*}} @asked.omp_outlined
void fill(int *, int *, double *, double *);
double asked(int rows, int all) {
  int *begin = malloc((rows + 1L) * sizeof *begin), *c = malloc(all * sizeof *c);
  double *v = malloc(all * sizeof *v), *x = malloc(rows * sizeof *x), *y = malloc(rows * sizeof *y);
  fill(begin, c, v, x);
  // SAID-DAG: openmp.c:[[#@LINE+1]]:1: remark: sector 1 gets 1 of 14 ways of L2 for {{c, v|v, c}}, used once, beside x, if the sizes fit when it runs
#pragma omp parallel for schedule(dynamic, 100)
  for (int r = 0; r < rows; r++) {
    double sum = 0;
    for (int k = begin[r]; k < begin[r + 1]; k++) sum += v[k] * x[c[k]];
    y[r] = sum;
  }
  return y[rows / 2];
}
double unknown(const double *x, long n) {
  double sum = 0;
  // SAID-DAG: openmp.c:[[#@LINE+1]]:1: remark: {{.*}}: the size of what is used again is not known in front of it
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < n; i++) sum += x[at[i]] * values[i];
  return sum;
}
// A volatile variable is read once, in the region.
long width;
volatile long changing;
void read(double *restrict y, const double *restrict x, const double *restrict a, long rows) {
#define ROWS(m) for (long r = 0; r < rows; r++) for (long i = 0; i < m; i++) y[r] += a[r * m + i] * x[i];
#pragma omp parallel
  {
    long m = width;
    // SAID-DAG: openmp.c:[[#@LINE+1]]:1: remark: sector 1 gets 1 of 14 ways of L2 for a, used once, beside x, if the sizes fit when it runs
#pragma omp for
    ROWS(m)
  }
#pragma omp parallel
  {
    long m = changing;
    // SAID-DAG: openmp.c:[[#@LINE+1]]:1: remark: {{.*}}: how much it uses once is not known in front of it
#pragma omp for
    ROWS(m)
  }
}
// Lookups may fill L2, what each iteration walks through 6 MiB of it.
double wide[880 << 10], wider[920 << 10], rows[8][880 << 10];
// SAID-DAG: openmp.c:[[#@LINE+2]]:1: remark: sector 1 gets 2 of 14 ways of L2 for {{.*}}, used once, beside wide
void most(void) {
#pragma omp parallel for
  for (long i = 0; i < 4 << 20; i++) out[i] += wide[at[i]] * values[i];
}
// SAID-DAG: openmp.c:[[#@LINE+2]]:1: remark: {{.*}}: what is used again does not fit into its ways
void more(void) {
#pragma omp parallel for
  for (long i = 0; i < 4 << 20; i++) out[i] += wider[at[i]] * values[i];
}
// SAID-DAG: openmp.c:[[#@LINE+2]]:1: remark: {{.*}}: what is used again does not fit into its ways
void walked(void) {
#pragma omp parallel for
  for (long r = 0; r < 8; r++)
    for (long i = 0; i < 880 << 10; i++) out[r] += rows[r][i] * wide[i];
}
__attribute__((noinline)) static double called(long n) {
  double sum = 0;
  // SAID-DAG: openmp.c:[[#@LINE+1]]:3: remark: {{.*}}: several threads may call its function
  for (long i = 0; i < n; i++) sum += table[at[i]] * values[i];
  return sum;
}
void nested(double *y, long n) {
#pragma omp parallel for
  for (long i = 0; i < n; i++) y[i] = called(n + i);
}
