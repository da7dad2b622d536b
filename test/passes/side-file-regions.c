// Ways for the lines of a parallel region, in a function with other directives: they are
// set around the region and nothing else. Code that nothing reaches may be a loop.
// RUN: split-file %s %t && cd %t
// DEFINE: %{compile} = env MPG_PASS_OPTIONS=hints=hints.yaml %hinted-c -O1 -g -fopenmp -S -emit-llvm app.c -o -
// RUN: echo 'run@7-9: ways:l2=4' > hints.yaml
// RUN: %{compile} 2>&1 | FileCheck app.c --check-prefix=REGION
// RUN: echo 'run@4-5: ways:l2=4' > hints.yaml
// RUN: %{compile} 2>&1 | FileCheck app.c --check-prefix=CRITICAL
// RUN: echo 'loop@26-34: ways:l2=4' > hints.yaml
// RUN: %{compile} 2>&1 | FileCheck app.c --check-prefix=LOOP
//--- app.c
double a[1000], b[1000];
void say(double *);
void run(int n) {
#pragma omp critical
  say(a);
  say(b);
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i)
    a[i] += b[i];
  say(a);
}
// REGION-LABEL: define {{.*}} @run(
// REGION: call void @say(
// REGION: call void @say(
// REGION: call i32 @mpg_sector_begin(
// REGION: __kmpc_fork_call
// REGION: call void @mpg_sector_end(
// REGION: call void @say(
// CRITICAL-LABEL: define {{.*}} @run(
// CRITICAL: call i32 @mpg_sector_begin(
// CRITICAL: call void @say(
// CRITICAL: call void @mpg_sector_end(
// CRITICAL: call void @say(
// CRITICAL-NOT: mpg_sector
// CRITICAL: __kmpc_fork_call
int loop(int x) {
  return 0;
again:
  if (x)
    goto again;
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i)
    a[i] += b[i];
  return 1;
}
// LOOP-LABEL: define {{.*}} @loop(
