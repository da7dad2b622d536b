// A loop with fewer iterations than a team can share out evenly leaves threads idle; told
// only where the loop inside of it may be shared out too.
// RUN: %hinted-c -O2 -g0 -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.a64fx
// RUN: FileCheck %s --check-prefixes=CHECK,A64FX --implicit-check-not=remark: --input-file=%t.a64fx
// How many threads another machine has is not known: 50 iterations may be enough.
// RUN: %clang --target=x86_64-linux-gnu -fpass-plugin=%passes -O2 -g0 -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.x86
// RUN: FileCheck %s --check-prefixes=CHECK,X86 --implicit-check-not=remark: --input-file=%t.x86
double a[10][40000], b[50][40000], c[96][40000], cube[2][5][40000], v[40000];
double compute(int);

double lecture(void) {
  double res = 0;
  // A64FX: :[[#@LINE+2]]:{{.*}} shares out 10 iterations to 48 threads{{.*}} collapse(2) {{.*}} 400000 iterations in all
  // X86: :[[#@LINE+1]]:{{.*}} shares out 10 iterations, too few{{.*}} collapse(2) {{.*}} 400000 iterations in all
#pragma omp parallel for schedule(static) reduction(+ : res)
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      res += a[l][k];
  return res;
}
void fifty(void) {
  // A64FX: :[[#@LINE+1]]:{{.*}} shares out 50 iterations
#pragma omp parallel for
  for (int l = 0; l < 50; l++)
    for (int k = 0; k < 40000; k++)
      b[l][k] *= v[k];
}
void any_width(double *x, int n) {
  // CHECK: :[[#@LINE+1]]:{{.*}} shares out 10 iterations{{.*}} collapse(2) to share out the loop inside of it as well
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < n; k++)
      x[(long)l * n + k] = 0.5 * k;
}
void twelve_threads(void) {
  // CHECK: :[[#@LINE+1]]:{{.*}} shares out 10 iterations to 12 threads
#pragma omp parallel for num_threads(12)
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      a[l][k] *= 2;
}
void on_demand(void) {
  // CHECK: :[[#@LINE+1]]:{{.*}} shares out 10 iterations
#pragma omp parallel for schedule(dynamic)
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      a[l][k] *= 2;
}

// Repaired, or enough iterations, or the same number for each thread.
double collapsed(void) {
  double res = 0;
#pragma omp parallel for schedule(static) reduction(+ : res) collapse(2)
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      res += a[l][k];
  return res;
}
void enough(void) {
#pragma omp parallel for num_threads(2)
  for (int l = 0; l < 9; l++)
    for (int k = 0; k < 40000; k++)
      a[l][k] *= 2;
}
void equal_parts(void) {
#pragma omp parallel for num_threads(5)
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      a[l][k] *= 2;
#pragma omp parallel for
  for (int l = 0; l < 96; l++)
    for (int k = 0; k < 40000; k++)
      c[l][k] *= 2;
}
// Loops that cannot be collapsed: no inner loop, one that is not alone, one whose
// iterations depend on each other, a sum for each row, rows of different length, a
// call.
void one_loop(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    v[l] = compute(l);
}
void not_perfect(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++) {
    for (int k = 0; k < 40000; k++)
      a[l][k] *= 2;
    a[l][0] = 1;
  }
}
void recurrence(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 1; k < 40000; k++)
      a[l][k] += a[l][k - 1];
}
void recurrence_far(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 7; k < 40000; k++)
      a[l][k] += a[l][k - 7];
}
void row_sums(double *sums) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      sums[l] += a[l][k];
}
void triangle(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 4000 * l; k++)
      a[l][k] *= 2;
}
void with_call(void) {
#pragma omp parallel for
  for (int l = 0; l < 10; l++)
    for (int k = 0; k < 40000; k++)
      a[l][k] = compute(k);
}
// How many iterations there are is up to the run.
void any_height(double (*x)[40000], int m) {
#pragma omp parallel for
  for (int l = 0; l < m; l++)
    for (int k = 0; k < 40000; k++)
      x[l][k] *= 2;
}
