// A hint does not follow its variable into an OpenMP task, and says so.
// RUN: %hinted-c -O2 -fopenmp -Rpass=mpg -Rpass-missed=mpg -S %s -o %t.s 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt
#include <mpg/hints.h>
// CHECK: the hint of {{.*}}:[[#@LINE+1]] changes nothing: an OpenMP task uses it: take a local pointer with the hint there
void task(MPG_STREAM double *a, long n) {
#pragma omp task
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
// CHECK: the hint of {{.*}}:[[#@LINE+1]] is not applied here: an OpenMP task uses it
void taskloop(MPG_STREAM double *a, long n) {
  a[0] = 1;
#pragma omp taskloop
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
// CHECK: the hint of {{.*}}:[[#@LINE+1]] changes nothing: an OpenMP task uses it
void shared(MPG_STREAM double *a, long n) {
#pragma omp parallel
#pragma omp single
#pragma omp task shared(a)
  for (long i = 0; i < n; i++)
    a[i] += 1;
}
