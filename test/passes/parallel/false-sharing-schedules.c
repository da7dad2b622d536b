// A loop that deals out neighbouring iterations to different threads lets them write
// into one line, unless its chunks are as long as a line.
// RUN: %hinted-c -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.remarks
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.remarks
double compute(int);

void in_turns(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      // CHECK: :[[#@LINE+1]]:{{.*}} elements of sums that are 8 bytes apart from one thread's iterations
      sums[i] += x[i][k];
}
void in_chunks(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(static, 4)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      // CHECK: :[[#@LINE+1]]:{{.*}} elements of sums that are 32 bytes apart
      sums[i] += x[i][k];
}
void on_demand(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      // CHECK: :[[#@LINE+1]]:{{.*}} elements of sums that are 8 bytes apart
      sums[i] += x[i][k];
}
void simple(float *a, const float *b, int n) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++)
    // CHECK: :[[#@LINE+1]]:{{.*}} elements of a that are 4 bytes apart
    a[i] = b[i] * 2;
}

// Chunks of a line, blocks, and rows as long as a line.
void in_lines(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(static, 32)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      sums[i] += x[i][k];
}
void in_blocks(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      sums[i] += x[i][k];
}
void by_rows(double (*a)[32], double **x, int n, int m) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      a[i][k & 31] += x[i][k];
}
// One result of a long iteration, and a sum that stays in a register.
void results(double *a, int n) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++)
    a[i] = compute(i);
}
void in_a_variable(double *sums, double **x, int n, int m) {
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < m; k++)
      sum += x[i][k];
    sums[i] = sum;
  }
}
// Chunks that only the run decides.
void any_chunk(double *sums, double **x, int n, int m, int chunk) {
#pragma omp parallel for schedule(static, chunk)
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      sums[i] += x[i][k];
}
