// A nest whose data the caches hold runs a copy without anything of the option, and without a
// fence. The other stores whole lines at once, and prefetches each line that it reads once.
// REQUIRES: host-x86_64, clang-22
// RUN: env MPG_PASS_OPTIONS=stream-stores=on,verify=on %clang --target=x86_64-linux-gnu -O2 -fno-discard-value-names -fpass-plugin=%passes -S -emit-llvm %s -o - | FileCheck %s
// CHECK-LABEL: define {{.*}} @rows(
// CHECK: load i64, ptr @mpg_stream_cache
// CHECK: br i1 {{.*}}, label %{{.*}}, label %[[COPY:.*cached.*]]
// CHECK-NOT: {{sfence|nontemporal|llvm.prefetch}}
// CHECK: {{^}}[[COPY]]:
// CHECK-NOT: {{sfence|nontemporal}}
// CHECK: br i1 {{.*}}cached, label %[[DONE:[^ ]*cleanup]], label %{{.*}}.cached,
// CHECK: {{^}}[[DONE]].fence:
// CHECK-NEXT: call void @llvm.x86.sse.sfence()
// CHECK: call void @llvm.prefetch.p0(
// CHECK-NOT: @llvm.prefetch
// CHECK: store <2 x double> {{.*}}, align 64, {{.*}}!nontemporal
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
