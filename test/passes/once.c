// Each remark is printed once, and each change made once: also if the plugin is loaded twice, by
// a wrapper and by a build file, if two side files have the same line, and if the optimiser has
// made many copies of a line, in one function or in each that it was inlined into.
// RUN: cd %t
// RUN: printf '# %s:20\nupdate/nobody: stream\n' > one.yaml && cp one.yaml two.yaml
// RUN: %hinted-c -g -O3 -Rpass=mpg -c %s -o once.o 2> once
// RUN: FileCheck %s < once && grep -c -e remark -e warning once | grep -x 4
// RUN: %hinted-c -fpass-plugin=%passes -g -O3 -Rpass=mpg -c %s -o twice.o 2> twice
// RUN: diff once twice && cmp once.o twice.o
// RUN: env MPG_PASS_OPTIONS=hints=one.yaml,hints=two.yaml %hinted-c -g -O3 -c %s -o files.o 2>&1 | FileCheck %s --check-prefix=FILES --implicit-check-not=warning
// CHECK-DAG: once.c:[[#@LINE+9]]:37: remark: tag 0x01: sector 1
// CHECK-DAG: once.c:[[#@LINE+8]]:40: remark: tag 0x01: sector 1
// CHECK-DAG: once.c:[[#@LINE+7]]:51: remark: tag 0x01: sector 1
// CHECK-DAG: once.c:[[#@LINE+11]]:37: remark: tag 0x01: sector 1
// FILES: warning: {{.*}}once.c:20: there is no variable 'nobody' in 'update'
// FILES: 1 warning generated
#include <mpg/hints.h>
void update(MPG_STREAM double *y, MPG_STREAM const double *x, long n) {
  // clang-format off
  for (long i = 0; i < n; i++) y[i] += x[i] * 2 + x[i + 1];
}
static inline double sum(MPG_STREAM const double *x, long n) {
  double s = 0;
  // clang-format off
  for (long i = 0; i < n; i++) s += x[i];
  // clang-format on
  return s;
}
double one(const double *x, long n) { return sum(x, n); }
double half(const double *x, long n) { return sum(x, n) / 2; }
