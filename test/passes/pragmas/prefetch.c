// Directives of prefetch in front of a loop decide for it and those in it: alone with
// --mpg-prefetch=user, in place of the option's distances with far. Without the option a
// remark says so. Loops whose stores are zeroed keep them.
// REQUIRES: mpg-passes
// DEFINE: %{options} = prefetch=user
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fplugin=%pragma-plugin -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -Wall -S -o - %s
// RUN: %{cc} > %t 2>&1 && FileCheck %s < %t && grep -c remark: %t | grep -x 9
// REDEFINE: %{options} = prefetch=far,zfill=1
// RUN: %{cc} 2>&1 | FileCheck %s --check-prefix=FAR
// REDEFINE: %{options} = verify=on
// RUN: %{cc} 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: remark: the hint of {{.*}}prefetch.c:17 changes nothing: --mpg-prefetch=user or far is not given
// OFF-NOT: prfm
void loops(double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; i++) a[i] = b[i] * 3;
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+1]] is honoured: 1 loop is marked
#pragma loop prefetch_sequential soft
  // CHECK-DAG: prefetch.c:[[#@LINE+1]]:3: remark: prefetches 2 streams, 9 lines ahead into L1, 70 lines ahead into L2
  for (long i = 0; i < n; i++) a[i] = b[i] * 4;
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+2]] is honoured: 1 loop is marked
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+2]] is honoured: 1 loop is marked
#pragma loop prefetch_line 4
#pragma loop prefetch_line_L2 (200)
  // CHECK-DAG: prefetch.c:[[#@LINE+2]]:3: remark: prefetches 2 streams, 4 lines ahead into L1, 200 lines ahead into L2
  // FAR: prefetch.c:[[#@LINE+1]]:3: remark: prefetches 1 stream, 4 lines ahead into L1, 200 lines ahead into L2
  for (long i = 0; i < n; i++) a[i] = b[i] * 5;
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+1]] is honoured: 1 loop is marked
#pragma loop noprefetch
  // CHECK-DAG: prefetch.c:[[#@LINE+2]]:3: remark: this loop gets no prefetches: the source forbids it (noprefetch)
  // FAR: prefetch.c:[[#@LINE+1]]:3: remark: this loop gets no prefetches: the source forbids it (noprefetch)
  for (long i = 0; i < n; i++) a[i] = b[i] * 6;
  // CHECK-DAG: prefetch.c:[[#@LINE+1]]:31: warning: expected a number of lines from 0 to 500; the directive is ignored [-Wmpg-pragmas]
#pragma loop prefetch_line_L2 501
  for (long i = 0; i < n; i++) a[i] = b[i] * 7;
}

void lookups(double *restrict a, const int *restrict b, long n) {
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+1]] is honoured: 1 loop is marked
#pragma loop prefetch_indirect 40
  // CHECK-DAG: prefetch.c:[[#@LINE+1]]:3: remark: prefetches {{[0-9]+}} lookup{{s?}} by an index, 40 iterations ahead
  for (long i = 0; i < n; i++) a[b[i]] += 1;
}
