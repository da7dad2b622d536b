// A nest whose data the caches hold runs a copy without anything of the option, and without a
// fence. The other has one fence, after the nest. It stores whole lines at once, and prefetches
// each line that it reads once.
// REQUIRES: host-x86_64, clang-22
// RUN: env MPG_PASS_OPTIONS=stream-stores=on,verify=on %clang --target=x86_64-linux-gnu -O2 -fno-discard-value-names -fpass-plugin=%passes -S -emit-llvm %s -o - | FileCheck %s
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
