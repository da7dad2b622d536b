// One remark for each loop that writes: it stores past the caches, or why not. Off by
// default; other targets get a remark.
// DEFINE: %{options} = stream-stores=on
// DEFINE: %{more} = -O2
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang --target=x86_64-linux-gnu %{more} -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S %s
// RUN: %{cc} -o %t.s 2> %t.said && FileCheck %s < %t.said && grep -c remark: %t.said | grep -x 18
// RUN: FileCheck %s --check-prefix=ASM < %t.s
// Aligned to lines: with longer registers, too.
// REDEFINE: %{more} = -O2 -march=skylake-avx512 -mprefer-vector-width=512
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=LONG
// LONG-DAG: vmovntpd %zmm
// Only the vectoriser's loops store so, and the link after LTO decides.
// REDEFINE: %{more} = -O2 -fno-vectorize -fno-slp-vectorize
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: remark: this loop's stores go through the caches: the compiler has not made vectors of independent elements of it
// SCALAR-NOT: movnt
// REDEFINE: %{more} = -O2 -flto -emit-llvm
// RUN: %{cc} -o - | FileCheck %s --check-prefix=NONE
// REDEFINE: %{options} = stream-stores=off
// REDEFINE: %{more} = -O2
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: {{remark:|movnt|mpg_stream|sfence}}
// RUN: env MPG_PASS_OPTIONS=stream-stores=on %clang --target=aarch64-linux-gnu -O2 -Werror -Rpass-missed=mpg -fpass-plugin=%passes -S %s -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: remark: stream-stores has no effect: it is for x86-64 Linux only
// OTHER-NOT: mpg_stream
double look(const double *);
// The size of the nest is compared in front of it, and a run ends with the fence. Where
// it is smaller than any last cache, that cache's size is not loaded.
// ASM-LABEL: {{^}}scale:
// ASM: cmpq $10485{{7[67]}}, %r
// ASM-NEXT: j{{ge?}}
// ASM: ret
// ASM: mpg_stream_cache(%rip)
// ASM: movntpd
// ASM-NOT: ret
// ASM: sfence
void scale(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: stores past the caches if its nest writes more than the last of them holds
  for (long i = 0; i < n; i++) a[i] = 3 * b[i];
}
void rows(double *restrict a, const double *restrict b, long n, long m) {
  for (long r = 0; r < m; r++)
    // CHECK-DAG: remarks.c:[[#@LINE+1]]:5: remark: stores past the caches
    for (long i = 1; i < n - 1; i++) a[r * n + i] = b[r * n + i - 1] + b[r * n + i + 1];
}
void axpy(double *a, double *b, double s, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:{{[0-9]+}}: remark: this loop's stores go through the caches: it may read what it overwrites
  for (long i = 0; i < n; i++) a[i] += s * b[i];
}
// A row reads the row that was stored before it.
void sweep(double *a, const double *restrict b, long n, long m) {
  for (long r = 1; r < m; r++)
    // CHECK-DAG: remarks.c:[[#@LINE+1]]:5: remark: {{.*}}: it may read what it overwrites
    for (long i = 0; i < n; i++) a[r * n + i] = b[r * n + i] + a[(r - 1) * n + i];
}
void both(volatile double *a, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it has volatile or atomic accesses
  for (long i = 0; i < n; i++) a[i] = 1.5;
}
// No last cache is as small as the first array.
static double fits[1 << 17], large[2 << 20];
void fill_both(double value, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the caches hold what it writes
  for (long i = 0; i < n; i++) fits[i] = value;
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: stores past the caches
  for (long i = 0; i < n; i++) large[i] = value;
}
double *get_fits(long i) { return i ? fits + i : large; }
void call(double *a, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it calls a function that may use the memory
  for (long i = 0; i < n; i++) { a[i] = 1.5; look(a); }
}
void short_one(double *restrict a, const double *restrict b) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it is too short
  for (long i = 0; i < 480; i++) a[i] = b[i] * 0.5;
}
// The rows are read in the nest, so only a row's bytes count, not the nest's.
// ASM-LABEL: {{^}}again:
// ASM-NOT: imulq
// ASM: cmpq $10485{{7[67]}}, %r
// ASM: mpg_stream_cache(%rip)
double again(double *restrict a, const double *restrict b, long n, long m) {
  double sum = 0;
  for (long r = 0; r < m; r++) {
    // CHECK-DAG: remarks.c:[[#@LINE+1]]:5: remark: stores past the caches
    for (long i = 0; i < n; i++) a[r * n + i] = 3 * b[r * n + i];
    sum += look(a + r * n);
  }
  return sum;
}
// A sum of all elements needs each of them once.
double both_ways(double *restrict a, const double *restrict b, long n) {
  long sum = 0;
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
  for (long i = 0; i < n; i++) { a[i] = 3 * b[i]; sum += b[i] > 0; }
  return sum;
}
// All lanes of a vector have the same element of b.
void eighths(double *restrict a, const double *restrict b, unsigned long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
  for (unsigned long i = 0; i < n; i++) a[i] = b[i / 8];
}
// LLVM knows some bits of the numbers of a vector's lanes, but nothing of their sums.
void bits(char *restrict a, const char *restrict b, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
  for (long i = 0; i < n; i++) a[i] = b[i] ^ (i & 15);
}
// The numbers of an iteration of 256 elements are the same each time.
void numbers(char *a, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+2]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
#pragma clang loop vectorize_width(64) interleave_count(4)
  for (long i = 0; i < n; i++) a[i] = (char)i;
}
void swapped(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
  for (long i = 0; i < n; i++) a[i] = b[i ^ 1];
}
void sums(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: stores past the caches
  for (long i = 0; i < n; i++) a[i] = b[n - i] + 0.5 * i;
}
// Every second lane comes from another array, which needs no number in the loop.
void either(char *restrict a, const char *restrict b, const char *restrict c, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the compiler has not made vectors of independent elements of it
  for (long i = 0; i < n; i++) {
    char odd = i & 1;
    odd |= odd << 1, odd |= odd << 2, odd |= odd << 4;
    a[i] = (b[i] & odd) | (c[i] & ~odd);
  }
}
// Copies of one loop: the changed one speaks.
static inline void inlined(double *restrict a, const double *restrict b, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: stores past the caches
  for (long i = 0; i < n; i++) a[i] = 7 * b[i];
}
void inlined_short(double *restrict a, const double *restrict b) { inlined(a, b, 512); }
void inlined_any(double *restrict a, const double *restrict b, long n) { inlined(a, b, n); }
