// A nest whose data the caches hold runs a copy without anything of the option, and without a
// fence. The other has one fence, after the nest. It stores whole lines at once, and prefetches
// each line that it reads once.
// REQUIRES: host-x86_64, clang-22
// RUN: env MPG_PASS_OPTIONS=stream-stores=on,verify=on %clang --target=x86_64-linux-gnu -O2 -fno-discard-value-names -fpass-plugin=%passes -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang --target=x86_64-linux-gnu -O2 %s -o %t.plain && %t.plain > %t.out
// DEFINE: %{always} =
// DEFINE: %{run} = env MPG_PASS_OPTIONS=stream-stores=on,verify=on%{always} %clang --target=x86_64-linux-gnu -O2 -fpass-plugin=%passes %s -o %t && %t | diff - %t.out
// RUN: %{run}
// REDEFINE: %{always} = ,test-large=always
// RUN: %{run}
// CHECK-LABEL: define {{.*}} @rows(
// CHECK: icmp sgt i64 %{{.*}}, 1048576
// CHECK-NEXT: br i1 %{{.*}}, label %[[LARGE:[^,]*]], label %[[COPY:.*cached]],
// CHECK: {{^}}[[COPY]]:
// CHECK-NOT: {{sfence|nontemporal|llvm.prefetch|mpg_stream_cache}}
// CHECK: {{^}}[[LARGE]]:
// CHECK-NEXT: load i64, ptr @mpg_stream_cache
// CHECK: {{^}}for.cond.cleanup.fence:
// CHECK: call void @llvm.x86.sse.sfence()
// CHECK-NOT: sfence
// CHECK: {{^}}stream:
// CHECK: call void @llvm.prefetch.p0(
// CHECK-NOT: @llvm.prefetch
// CHECK: store <2 x double> {{.*}}, align 16, {{.*}}!nontemporal
// CHECK-NEXT: store <2 x double> {{.*}}!nontemporal
// CHECK-NEXT: store <2 x double> {{.*}}!nontemporal
// CHECK-NEXT: store <2 x double> {{.*}}!nontemporal
// CHECK-NOT: {{sfence|nontemporal|llvm.prefetch}}
// CHECK: {{^}}}
void rows(double *restrict to, const double *from, long rows, long width) {
  for (long row = 1; row < rows; row++)
    for (long i = 1; i < width - 1; i++)
      to[row * width + i] = from[row * width + i - 1] + from[row * width + i + 1];
}
// Each row is fenced before the store that tells another thread of it.
// CHECK-LABEL: define {{.*}} @tell(
// CHECK: {{^}}stream.done:
// CHECK-NEXT: call void @llvm.x86.sse.sfence()
void tell(double *restrict to, const double *from, _Atomic long *ready, long rows, long width) {
  for (long row = 0; row < rows; row++) {
    for (long i = 0; i < width; i++) to[row * width + i] = 3 * from[row * width + i];
    __c11_atomic_store(ready, row, __ATOMIC_RELEASE);
  }
}
// CHECK-LABEL: define {{.*}} @show(
// CHECK: {{^}}stream.done:
// CHECK-NEXT: call void @llvm.x86.sse.sfence()
void show(double *restrict to, const double *from, volatile long *ready, long rows, long width) {
  for (long row = 0; row < rows; row++) {
    for (long i = 0; i < width; i++) to[row * width + i] = 3 * from[row * width + i];
    *ready = row;
  }
}
// A jump to a computed address stays in its nest, which is neither copied nor gets own ends.
__attribute__((noinline)) long jumps(double *restrict to, const unsigned char *kinds, long rows, long width) {
  static void *const places[] = {&&more, &&same, &&stop};
  long sum = 0;
  for (long row = 0; row < rows; row++) {
    goto *places[kinds[row]];
  more:
    sum += 3;
  same:
    for (long i = 0; i < width; i++) to[row * width + i] = sum + i;
  }
stop:
  return sum;
}
#include <stdio.h>
int main(void) {
  enum { width = 4000, rows = 40 };
  static double to[rows * width];
  static unsigned char kinds[rows] = {1, 0, 1, 1, 0, 0};
  kinds[rows - 2] = 2;
  printf("%ld", jumps(to, kinds, rows, width));
  for (int i = 0; i < rows * width; i += 999) printf(" %g", to[i]);
}
