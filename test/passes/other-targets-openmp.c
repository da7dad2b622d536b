// The GPU modules of an offload compile also go through the passes, and so does code
// with 32-bit pointers: neither has libmpg. Both stay unchanged, without a remark, for
// a GPU's threads share cache lines on purpose.
// RUN: cd %t
// DEFINE: %{of} = --offload-arch=gfx90a -nogpulib -nogpuinc --offload-device-only
// DEFINE: %{options} = first-touch=on
// DEFINE: %{cc} = %clang --target=x86_64-linux-gnu -fopenmp -O2 -S -emit-llvm %{of} %s -Rpass=mpg -Rpass-missed=mpg -Rpass-analysis=mpg
// DEFINE: %{hinted} = env MPG_PASS_OPTIONS=%{options} %{cc} -fpass-plugin=%passes
// DEFINE: %{same} = %{cc} -o plain.ll && %{hinted} -o hinted.ll 2>&1 | count 0 && cmp plain.ll hinted.ll
// RUN: %{same}
// RUN: grep -q __kmpc_for_static_init plain.ll
// REDEFINE: %{options} = sim=on
// RUN: %{same}
// REDEFINE: %{of} = --target=x86_64-linux-gnux32
// RUN: %{same}
// REDEFINE: %{of} = --target=i386-linux-gnu
// RUN: %{same}
// REDEFINE: %{of} = --target=arm64-apple-macos14
// RUN: %{same}
//
// The host's part has all of it.
// REDEFINE: %{of} = --offload-arch=gfx90a -nogpulib -nogpuinc --offload-host-only
// REDEFINE: %{options} = first-touch=on,sim=on
// RUN: %{hinted} -o out.ll 2> remarks && cat remarks out.ll | FileCheck %s
// RUN: %if lab %{ FileCheck %s --check-prefix=LAB < out.ll %}
// CHECK: remark: {{.*}}is initialised by one thread
// CHECK: call {{.*}}@mpg_first_touch
// LAB: @mpg_sim_cursor
#pragma omp declare target
void *malloc(__SIZE_TYPE__);
void use(double *);
void add(double *sum, long count) {
  double *part = malloc(count * sizeof *part);
  for (long i = 0; i < count; ++i)
    part[i] = 0;
#pragma omp parallel for
  for (long i = 0; i < count; ++i)
    sum[i] += part[i] + i;
  use(part);
}
#pragma omp end declare target
void offload(double *sum, long count) {
#pragma omp target map(tofrom : sum[0 : count])
  add(sum, count);
}
