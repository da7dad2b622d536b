// Directives in front of a loop decide for it and those in it, in place of the option.
// A directive that is wrong, or has no loop after it, gets a warning; of two that contradict each
// other the first counts. `#pragma fj loop` is the same (fcc's clang mode).
// REQUIRES: mpg-passes
// DEFINE: %{cc} = %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fopenmp -fplugin=%pragma-plugin -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -Wall
// RUN: %{cc} -S -o %t.s %s 2>&1 | FileCheck %s
// RUN: grep -c S1_3_C7_C4_1 %t.s | grep -x 7
// RUN: env MPG_PASS_OPTIONS=zfill=20 %{cc} -S -o - %s 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: %{cc} -E -o %t.i %s && grep -cE '^#pragma (fj )?loop' %t.i | grep -x 10
// A machine without DC ZVA: nothing is said.
// RUN: %clang --target=x86_64-linux-gnu -O2 -fopenmp -fplugin=%pragma-plugin -fpass-plugin=%passes -Xclang -plugin-arg-mpg-pragmas -Xclang no-mpg-pragmas -Rpass=mpg -S -o - %s 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: {{remark|warning}}:

void apart(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+1]] is honoured: 1 loop is marked
#pragma loop zfill 7
  // CHECK-DAG: zfill.c:[[#@LINE+2]]:3: remark: zeroes lines 7 ahead
  // ALL-DAG: zfill.c:[[#@LINE+1]]:3: remark: zeroes lines 7 ahead
  for (long i = 0; i < n; i++) a[i] = b[i] * 3;
  // ALL-DAG: zfill.c:[[#@LINE+1]]:3: remark: zeroes lines 20 ahead
  for (long i = 0; i < n; i++) a[i] = b[i] * 4;
#pragma loop nozfill
  // ALL-DAG: zfill.c:[[#@LINE+1]]:3: remark: no lines are zeroed {{.*}} the source forbids it (nozfill)
  for (long i = 0; i < n; i++) a[i] = b[i] * 5;
#pragma loop zfill
  // CHECK-DAG: zfill.c:[[#@LINE+1]]:3: remark: no lines are zeroed {{.*}} it may read what it overwrites
  for (long i = 0; i < n; i++) a[i] += b[i];
}

void nest(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remark: the hint of {{.*}}:[[#@LINE+1]] is honoured: 2 loops are marked
#pragma fj loop zfill 3
  for (long r = 0; r < n; r++)
    // CHECK-DAG: zfill.c:[[#@LINE+1]]:5: remark: zeroes lines 3 ahead
    for (long i = 0; i < n; i++) a[r * n + i] = b[r * n + i] * 3;
}

void team(double *restrict a, const double *restrict b, long n) {
#pragma loop zfill
  // CHECK-DAG: zfill.c:[[#@LINE+1]]:1: remark: zeroes lines 18 ahead
#pragma omp parallel for
  for (long i = 0; i < n; i++) a[i] = b[i] * 3;
  // CHECK-DAG: zfill.c:[[#@LINE+1]]:1: remark: zeroes lines 9 ahead
#pragma omp parallel for
#pragma loop zfill (9)
  for (long i = 0; i < n; i++) a[i] = b[i] * 4;
}

void wrong(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: zfill.c:[[#@LINE+1]]:20: warning: expected a number of lines from 1 to 100; the directive is ignored [-Wmpg-pragmas]
#pragma loop zfill 0
  for (long i = 0; i < n; i++) a[i] = b[i] * 3;
#pragma loop zfill 3
#pragma loop zfill 4
  // CHECK-DAG: zfill.c:[[#@LINE+2]]:3: remark: zfill in line [[#@LINE-1]] contradicts that in line [[#@LINE-2]], which counts
  // CHECK-DAG: zfill.c:[[#@LINE+1]]:3: remark: zeroes lines 3 ahead
  for (long i = 0; i < n; i++) a[i] = b[i] * 4;
  // CHECK-DAG: zfill.c:[[#@LINE+1]]: zfill has no effect: no loop follows, or the lines have none
#pragma loop zfill
}
