// One remark for each nest: the sector cache is divided for it, or why not. Hints of
// the source win. Off by default; other targets get a remark.
// DEFINE: %{options} = sector=auto,verify=on
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %hinted-c -O2 -g -Rpass=mpg -Rpass-missed=mpg -S %s
// RUN: %{cc} -o %t.s 2> %t.said && FileCheck %s --implicit-check-not=divided --implicit-check-not='sector 1 gets' < %t.said
// RUN: %count %t.s --function gather --tag 0x01 --at-least 2
// RUN: %count %t.s --function large --at-most 0
// REDEFINE: %{options} = sector=user
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: {{divided|sector 1 gets}}
// RUN: env MPG_PASS_OPTIONS=sector=auto %clang --target=x86_64-linux-gnu -O2 -Werror -Rpass-missed=mpg -fpass-plugin=%passes -S %s -I%source/runtime/include -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: remark: sector=auto has no effect: only AArch64 Linux has tags
#include <mpg/hints.h>
double table[4 << 17], huge[6 << 17], values[4 << 20];
int at[4 << 20];
MPG_KEEP double wanted[4 << 20];

double gather(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: sector 1 gets 1 of 14 ways of L2 for {{at, values|values, at}}, used once, beside table
  for (long i = 0; i < 4 << 20; i++) sum += table[at[i]] * values[i];
  return sum;
}
double large(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: the sector cache is not divided for this loop: what is used again does not fit into its ways
  for (long i = 0; i < 4 << 20; i++) sum += huge[at[i]] * values[i];
  return sum;
}
double few(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: what is used once is not much
  for (long i = 0; i < 1 << 20; i++) sum += table[at[i]] * values[i];
  return sum;
}
double hinted(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it has hints of the source or of a side file
  for (long i = 0; i < 4 << 20; i++) sum += table[at[i]] * wanted[i];
  return sum;
}
MPG_WAYS(l2=5) double bracketed(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the source sets the ways of this code
  for (long i = 0; i < 4 << 20; i++) sum += table[at[i]] * values[i];
  return sum;
}
MPG_NO_HINTS double off(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it has hints
  for (long i = 0; i < 4 << 20; i++) sum += table[at[i]] * values[i];
  return sum;
}
void triad(double *a, double *b, double *c, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: nothing in it is used again
  for (long i = 0; i < n; i++) a[i] = b[i] + 2 * c[i];
}
double unknown(double *x, long n) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the size of what is used again is not known in front of it
  for (long i = 0; i < n; i++) sum += x[at[i]] * values[i];
  return sum;
}
void call(void);
double calls(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it calls functions that may use memory
  for (long i = 0; i < 4 << 20; i++) { call(); sum += table[at[i]] * values[i]; }
  return sum;
}
double rowLeftOut(const int *restrict begin, const int *restrict use, long rows) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+3]]:7: remark: {{.*}}: its sizes would be compared again and again
  for (long r = 0; r < rows; r++)
    if (use[r])
      for (int k = begin[r]; k < begin[r + 1]; k++) sum += table[at[k]] * values[k];
  return sum;
}
// If it ends by the second condition, the last bound is never loaded.
double endsEarly(const int *restrict begin, double *restrict y, long rows, long most) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+4]]:5: remark: {{.*}}: its sizes would be compared again and again
  for (long r = 0; r < rows; r++) {
    y[r] = sum;
    if (r == most) break;
    for (int k = begin[r]; k < begin[r + 1]; k++) sum += table[at[k]] * values[k];
  }
  return sum;
}
// An array that is read at two places, of which one comes back to what the other has read.
double twoPlaces(void) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: what is used once is not much
  for (long i = 1 << 17; i < 4 << 20; i++) sum += table[at[i]] * (values[i] - values[i - (1 << 17)]);
  return sum;
}
void product(double *restrict y, const double *restrict x, const double *restrict a, long n, long m) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: sector 1 gets 1 of 14 ways of L2 for a, used once, beside x, if the sizes fit when it runs
  for (long i = 0; i < n; i++) {
    double sum = 0;
    for (long j = 0; j < m; j++) sum += a[i * m + j] * x[j];
    y[i] = sum;
  }
}
// In front of the jump it is not known whether the loop runs.
double jump(int way) {
  static void *const places[] = {&&loop, &&other};
  double sum = way;
  long i = 0;
  goto *places[way];
other:
  return sum * 2;
loop:
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: a jump to a computed address leads to it
  do sum += table[at[i]] * values[i]; while (++i < 4 << 20);
  return sum;
}
