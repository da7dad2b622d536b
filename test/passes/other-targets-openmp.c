// The GPU modules of an offload compile also go through the passes, and so does code
// with 32-bit pointers: neither has libmpg. Both stay unchanged, without a remark, for
// a GPU's threads share cache lines on purpose.
// RUN: cd %t
// DEFINE: %{cc} = %clang --target=x86_64-linux-gnu -fopenmp -O2 -S -emit-llvm %s "$@" -Rpass=mpg -Rpass-missed=mpg -Rpass-analysis=mpg
// DEFINE: %{hinted} = %{cc} -fpass-plugin=%passes
// DEFINE: %{same} = sh -c '%{cc} -o plain.ll && %{hinted} -o hinted.ll 2> said && count 0 < said && cmp plain.ll hinted.ll' sh
// RUN: %{same} --offload-arch=gfx90a -nogpulib -nogpuinc --offload-device-only
// RUN: grep -q __kmpc_for_static_init plain.ll
// RUN: env MPG_PASS_OPTIONS=sim=on %{same} --offload-arch=gfx90a -nogpulib -nogpuinc --offload-device-only
// RUN: env MPG_PASS_OPTIONS=sim=on %{same} --target=x86_64-linux-gnux32
// RUN: env MPG_PASS_OPTIONS=sim=on %{same} --target=i386-linux-gnu
// RUN: env MPG_PASS_OPTIONS=sim=on %{same} --target=arm64-apple-macos14
//
// The host's part has all of it.
// RUN: env MPG_PASS_OPTIONS=first-touch=on,sim=on sh -c '%{hinted} -o out.ll' sh --offload-arch=gfx90a -nogpulib -nogpuinc --offload-host-only 2> remarks && cat remarks out.ll | FileCheck %s
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
