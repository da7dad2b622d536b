// A library that starts a team inside of its caller's gets a remark at its region, with
// the clause that makes both uses right.
// RUN: %hinted-c -O2 -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.remarks
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.remarks
// Inlined or not.
// RUN: %hinted-c -O2 -g -fno-inline -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.called
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.called
// A program that requests nested regions gets no remark.
// RUN: %hinted-c -O2 -DWANTED -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | count 0
#ifdef WANTED
void omp_set_max_active_levels(int);
void start(void) { omp_set_max_active_levels(2); }
#endif
int omp_in_parallel(void);

void scale(double *x, int n) {
  // CHECK: :[[#@LINE+1]]:{{.*}} scale starts this parallel region and is itself called from one{{.*}}if(!omp_in_parallel())
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] *= 2;
}
void scale_all(double **x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    scale(x[i], n);
}

// Through another function.
void shift(double *x, int n) {
  // CHECK: :[[#@LINE+1]]:{{.*}} shift starts this parallel region
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] += 2;
}
static void shift_twice(double *x, int n) {
  shift(x, n);
  shift(x, n);
}
void shift_all(double **x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    shift_twice(x[i], n);
}

// Repaired.
void negate(double *x, int n) {
#pragma omp parallel for if (!omp_in_parallel())
  for (int i = 0; i < n; i++)
    x[i] = -x[i];
}
void negate_all(double **x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    negate(x[i], n);
}
// Called from serial code; a team of a chosen size; regions nested on purpose.
void halve(double *x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    x[i] /= 2;
}
void halve_all(double **x, int n) {
  for (int i = 0; i < n; i++)
    halve(x[i], n);
}
void square(double *x, int n) {
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < n; i++)
    x[i] *= x[i];
}
void square_all(double **x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    square(x[i], n);
}
void both(double **x, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
#pragma omp parallel for
    for (int k = 0; k < n; k++)
      x[i][k] = 0;
  }
}
