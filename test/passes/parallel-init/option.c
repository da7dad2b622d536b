// first-touch=parallel-init: an initialisation that can run in parallel does, with the
// schedule of the loop that uses the array; another one gets the call, as with "on".
// DEFINE: %{mode} = parallel-init
// DEFINE: %{build} = env MPG_PASS_OPTIONS=first-touch=%{mode} %clang -O2 -g -fopenmp -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg
// RUN: %{build} -S -emit-llvm %s -o %t.ll 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=SAID
// RUN: FileCheck %s --input-file=%t.ll
// RUN: %{build} -c %s -o %t.o && %link %t.o -o %t
// RUN: %clang -O2 -fopenmp -c %s -o %t.plain.o && %link %t.plain.o -o %t.plain
// RUN: env OMP_NUM_THREADS=3 %t.plain > %t.expected
// RUN: env OMP_NUM_THREADS=3 %t | cmp - %t.expected
// REDEFINE: %{mode} = on
// RUN: %{build} -S -emit-llvm %s -o - | FileCheck %s --check-prefix=ON
// ON-NOT: mpg_init
#include <stdio.h>
#include <stdlib.h>

enum { n = 2000000 };

// CHECK-LABEL: define {{.*}} @independent(
// CHECK: @independent.mpg_init.omp_outlined
__attribute__((noinline)) double independent(void) {
  double *a = malloc(n * sizeof *a), sum = 0;
  // SAID-DAG: option.c:[[#@LINE+2]]:{{.*}} remark: 'a': the loop that initialises it runs in parallel
  for (long i = 0; i < n; i++)
    a[i] = i * 0.5;
#pragma omp parallel for schedule(static, 4096)
  for (long i = 0; i < n; i++)
    a[i] += 1;
  for (long i = 0; i < n; i++)
    sum += a[i];
  free(a);
  return sum;
}
// CHECK-LABEL: define {{.*}} @dependent(
// CHECK-NOT: @dependent.mpg_init
// CHECK: mpg_first_touch
__attribute__((noinline)) double dependent(void) {
  double *a = malloc(n * sizeof *a), value = 1, sum = 0;
  for (long i = 0; i < n; i++) {
    a[i] = value;
    value = value * 0.999 + 1;
  }
#pragma omp parallel for
  for (long i = 0; i < n; i++)
    a[i] += 1;
  for (long i = 0; i < n; i++)
    sum += a[i];
  free(a);
  return sum;
}
// The schedule is passed on.
// CHECK-LABEL: define internal void @independent.mpg_init(
// CHECK: __kmpc_for_static_init_8({{.*}} i32 33, {{.*}} i64 1, i64 %
int main(void) { printf("%.17g %.17g\n", independent(), dependent()); }
