// Threads that repeatedly write into one cache line slow each other down many times
// over, and the source does not show it: each such write gets a remark, and no
// other.
// RUN: %hinted-c -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.a64fx
// RUN: FileCheck %s --check-prefixes=CHECK,A64FX --implicit-check-not=remark: --input-file=%t.a64fx
// The line of most other processors is shorter.
// RUN: %clang --target=x86_64-linux-gnu -fpass-plugin=%passes -O2 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | grep remark: | sort -t: -k2n > %t.x86
// RUN: FileCheck %s --check-prefixes=CHECK,X86 --implicit-check-not=remark: --input-file=%t.x86
// At -O0 the code does not show it.
// RUN: %hinted-c -O0 -fopenmp -g -Rpass-missed=mpg -c %s -o %t.o 2>&1 | count 0
int omp_get_thread_num(void), omp_get_num_threads(void), omp_get_max_threads(void);
int compute(int);

int lecture(int n) {
  int a = 0, array[omp_get_max_threads()];
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    array[id] = 0;
#pragma omp for
    for (int i = 0; i < n; i++) {
      int x = compute(i);
      // A64FX: :[[#@LINE+2]]:{{.*}} array that are 4 bytes apart {{.*}} line of 256 bytes
      // X86: :[[#@LINE+1]]:{{.*}} array that are 4 bytes apart {{.*}} line of 64 bytes
      array[id] += x;
    }
#pragma omp critical
    a += array[id];
  }
  return a;
}
// Its two repairs: room for a line, and a reduction.
int padded(int n) {
  int a = 0, array[omp_get_max_threads() * 64];
#pragma omp parallel
  {
    int id = omp_get_thread_num();
    array[id * 64] = 0;
#pragma omp for
    for (int i = 0; i < n; i++)
      array[id * 64] += compute(i);
#pragma omp critical
    a += array[id * 64];
  }
  return a;
}
int reduced(int n) {
  int a = 0;
#pragma omp parallel for reduction(+ : a)
  for (int i = 0; i < n; i++)
    a += compute(i);
  return a;
}

// Room for a line of 64 bytes is not enough for one of 256.
double sums[64 * 8];
void padded_for_64(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    // A64FX: :[[#@LINE+1]]:{{.*}} sums that are 64 bytes apart
    sums[omp_get_thread_num() * 8] += compute(i);
}
struct Own {
  double sum;
  char padding[248];
} own[64];
void padded_struct(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    own[omp_get_thread_num()].sum += compute(i);
}

// Rows that are shorter than a line, and such that are not.
double rows[64][4], long_rows[64][64];
void row_of_thread(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    // CHECK: :[[#@LINE+1]]:{{.*}} rows that are 32 bytes apart
    rows[omp_get_thread_num()][compute(i) & 3] += 1;
}
void long_row_of_thread(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    long_rows[omp_get_thread_num()][compute(i) & 63] += 1;
}

// In a function that receives the number, and by an atomic operation.
static __attribute__((noinline)) void add(int *counts, int id, int n) {
  for (int i = 0; i < n; i++)
    if (compute(i))
      // CHECK: :[[#@LINE+2]]:{{.*}} counts that are 4 bytes apart
#pragma omp atomic
      counts[id]++;
}
void by_argument(int *counts, int n) {
#pragma omp parallel
  add(counts, omp_get_thread_num(), n);
}
// The same function, but its argument is not the number.
static __attribute__((noinline)) void add_any(int *counts, int id, int n) {
  for (int i = 0; i < n; i++)
    if (compute(i))
      counts[id]++;
}
void other_argument(int *counts, int n, int m) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    add_any(counts, m, n);
}

// Elements in turn by hand, and blocks by hand.
void cyclic(double *a, const double *b, int n) {
#pragma omp parallel
  {
    int threads = omp_get_num_threads();
    for (int i = omp_get_thread_num(); i < n; i += threads)
      // CHECK: :[[#@LINE+1]]:{{.*}} a that are 8 bytes apart from thread to thread
      a[i] = b[i] * 2;
  }
}
void blocks(double *a, const double *b, int n) {
#pragma omp parallel
  {
    int block = n / omp_get_num_threads(), id = omp_get_thread_num();
    for (int i = id * block; i < (id + 1) * block; i++)
      a[i] = b[i] * 2;
  }
}

// Memory that a thread writes once, reads, or owns.
void written_once(double *results, int n) {
#pragma omp parallel
  {
    double sum = 0;
    for (int i = 0; i < n; i++)
      sum += compute(i);
    results[omp_get_thread_num()] = sum;
  }
}
void few_times(int *results) {
#pragma omp parallel
  for (int i = 0; i < 10; i++)
    results[omp_get_thread_num()] += compute(i);
}
int only_read(const int *limits, int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += compute(limits[omp_get_thread_num()]);
  return sum;
}
void show(int *);
_Thread_local int mine[64];
void own_memory(int n) {
#pragma omp parallel
  {
    int local[64];
    for (int i = 0; i < n; i++) {
      local[omp_get_thread_num()] = compute(i);
      mine[omp_get_thread_num()] = compute(i);
      show(local);
    }
  }
}
