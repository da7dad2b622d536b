// A team that takes longer to start than its loop runs gets a remark if the work is known
// at compile time, and only then: wrong advice here would make programs serial.
// RUN: %hinted-c -O2 -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.remarks
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.remarks
// RUN: %clang --target=x86_64-linux-gnu -fpass-plugin=%passes -O2 -g -fopenmp -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.x86
// RUN: FileCheck %s --implicit-check-not=remark: --input-file=%t.x86
double a[100000], b[100000], c[100000], d[100000], matrix[64][64];
double compute(int);

void small(void) {
  // CHECK: :[[#@LINE+1]]:{{.*}} this parallel region have 1000 iterations in all, about {{[0-9]+}} instructions{{.*}}if(n > 8000)
#pragma omp parallel for
  for (int i = 0; i < 1000; i++)
    a[i] = b[i] + c[i] * d[i];
}
void two_loops(void) {
  // CHECK: :[[#@LINE+1]]:{{.*}} have 1500 iterations in all
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1000; i++)
      a[i] = b[i] + 1;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 500; i++)
      c[i] = a[2 * i];
  }
}
void in_chunks(void) {
  // CHECK: :[[#@LINE+1]]:{{.*}} have 600 iterations in all
#pragma omp parallel for schedule(static, 64)
  for (int i = 0; i < 600; i++)
    a[i] = b[i] + c[i] * d[i];
}
double summed(void) {
  double sum = 0;
  // CHECK: :[[#@LINE+1]]:{{.*}} have 1024 iterations in all, about {{[0-9]?[0-9][0-9][0-9][0-9]}} instructions
#pragma omp parallel for reduction(+ : sum) collapse(2)
  for (int i = 0; i < 32; i++)
    for (int k = 0; k < 32; k++)
      sum += matrix[i][k];
  return sum;
}

// Work enough: by iterations, by inner loops, by slow instructions.
void large(void) {
#pragma omp parallel for
  for (int i = 0; i < 20000; i++)
    a[i] = b[i] + c[i] * d[i];
}
void inner_loop(void) {
#pragma omp parallel for
  for (int i = 0; i < 960; i++)
    for (int k = 0; k < 100; k++)
      a[i] += b[k] * c[i];
}
void divisions(void) {
#pragma omp parallel for
  for (int i = 0; i < 4000; i++)
    a[i] = b[i] / c[i] / d[i];
}
// Work that is not known.
void any_number(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    a[i] = b[i] + c[i] * d[i];
}
void calls(void) {
#pragma omp parallel for
  for (int i = 0; i < 100; i++)
    a[i] = compute(i);
}
void any_inner(int n) {
#pragma omp parallel for
  for (int i = 0; i < 96; i++)
    for (int k = 0; k < n; k++)
      a[i] += b[k] * c[i];
}
void one_of_two(int n) {
#pragma omp parallel
  {
#pragma omp for
    for (int i = 0; i < 1000; i++)
      a[i] = b[i];
#pragma omp for
    for (int i = 0; i < n; i++)
      c[i] = a[i];
  }
}
// Each thread does different work.
int omp_get_thread_num(void);
void without_loop(void) {
#pragma omp parallel
  a[64 * omp_get_thread_num()] = 1;
}
// The author has thought of it.
void with_if(int n) {
#pragma omp parallel for if (n > 8000)
  for (int i = 0; i < 1000; i++)
    a[i] = b[i] + c[i] * d[i];
}
void with_threads(void) {
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 1000; i++)
    a[i] = b[i] + c[i] * d[i];
}
