// Instrumentation that runs behind our passes computes with the addresses of accesses: a program
// with tags would look up its shadow memory in the wrong place, and die. So there are no tags
// then, and a remark. (LLVM itself has no dataflow sanitizer for SVE.)
// RUN: %hinted-c -O2 -fno-vectorize -Rpass-missed=mpg -fsanitize=dataflow -S %s -o %t.s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.s --implicit-check-not='orr{{.*}}#0x100000000000000' --implicit-check-not=mpg.hints
// RUN: %hinted-c -O2 -fno-vectorize -Rpass-missed=mpg -fmemory-profile -S %s -o %t.s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.s --implicit-check-not='orr{{.*}}#0x100000000000000' --implicit-check-not=mpg.hints
// RUN: %hinted-c -O2 -fno-vectorize -Rpass-missed=mpg -fsanitize-coverage=trace-loads,trace-pc-guard -S %s -o %t.s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.s --implicit-check-not='orr{{.*}}#0x100000000000000' --implicit-check-not=mpg.hints
// RUN: %hinted-c -O2 -fno-vectorize -Rpass-missed=mpg -S %s -o %t.s 2>&1 | count 0
// RUN: grep 'orr.*#0x100000000000000' %t.s && grep mpg.hints %t.s
// A file without tags gets no remark.
// RUN: %plain-c -fpass-plugin=%passes -O2 -fno-vectorize -Rpass-missed=mpg -fsanitize=dataflow -S %s -o %t.s 2>&1 | count 0
// REMARK: remark: no hint is applied in sum: the tags are taken off again, because of instrumentation
// CHECK: {{^}}sum{{(.dfsan)?}}:
#include <mpg/hints.h>
double sum(MPG_STREAM const double *a, long n) {
  double all = 0;
  for (long i = 0; i < n; i++) all += a[i];
  return all;
}
