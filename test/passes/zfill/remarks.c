// One remark for each loop that writes: lines are zeroed ahead of its stores, or why
// not. Off by default; other targets get a remark.
// DEFINE: %{options} = zfill=18
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S %s
// RUN: %{cc} -o %t.s 2> %t.said && FileCheck %s < %t.said && grep -c remark: %t.said | grep -x 13
// RUN: grep -c S1_3_C7_C4_1 %t.s | grep -x 6
// A link for LTO optimises again, so nothing is done before it.
// RUN: %{cc} -o - -flto -emit-llvm 2>&1 | FileCheck %s --check-prefix=NONE
// REDEFINE: %{options} = zfill=off
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=NONE
// NONE-NOT: {{remark:|S1_3_C7_C4_1}}
// REDEFINE: %{options} = zfill=auto
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=ASM
// ASM: mrs {{x[0-9]+}}, DCZID_EL0
// REDEFINE: %{options} = zfill=18,test-zfill=volatiles
// RUN: %{cc} -o - 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: remarks.c:[[#@LINE+31]]:3: remark: zeroes lines
// RUN: env MPG_PASS_OPTIONS=zfill=18 %clang --target=x86_64-linux-gnu -O2 -Werror -Rpass-missed=mpg -fpass-plugin=%passes -S %s -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: remark: zfill has no effect: only AArch64 Linux has DC ZVA; on x86-64 --mpg-stream-stores saves the same reads
struct pair { double x, y; };
double look(const double *);
void fill(double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: zeroes lines 18 ahead of the stores, of 1 stream
  for (long i = 0; i < n; i++) a[i] = 1.5;
}
void triad(double *a, double *b, double *c, double s, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: zeroes lines 18 ahead of the stores, of 1 stream
  for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
void two(double *a, double *b, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: zeroes lines 18 ahead of the stores, of 2 streams
  for (long i = 0; i < n; i++) { a[i] = 1; b[i] = 2; }
}
void axpy(double *a, double *b, double s, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: no lines are zeroed ahead of this loop's stores: it may read what it overwrites
  for (long i = 0; i < n; i++) a[i] += s * b[i];
}
void half(struct pair *p, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: no store in it overwrites consecutive memory, upwards
  for (long i = 0; i < n; i++) p[i].y = i;
}
void search(double *a, const double *b, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it can end in more than one way
  for (long i = 0; i < n; i++) { if (b[i] > 7) break; a[i] = i; }
}
void both(volatile double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it has volatile or atomic accesses
  for (long i = 0; i < n; i++) a[i] = 1.5;
}
void call(double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it calls a function that may use the memory
  for (long i = 0; i < n; i++) { a[i] = 1.5; look(a); }
}
__attribute__((no_sanitize("memtag"), minsize)) void small(double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it is optimised for size
  for (long i = 0; i < n; i++) a[i] = 1.5;
}
double sum(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; i++) s += a[i];
  return s;
}
void short_one(double *a) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it is too short
  for (long i = 1; i <= 512; i++) a[i] = a[i - 1] * 0.5;
}
// An array of 8 MiB fits into L2, however long the loop is.
static double fits[1 << 20], large[2 << 20];
void fill_both(double value, long n) {
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: the caches hold what it writes
  for (long i = 0; i < n; i++) fits[i] = value;
  // CHECK-DAG: remarks.c:[[#@LINE+1]]:3: remark: zeroes lines
  for (long i = 0; i < n; i++) large[i] = value;
}
double *get_fits(long i) { return i ? fits + i : large; }
// The decision about the nest is in front of it: no DCZID within.
void rows(double *restrict a, const double *restrict b, long n, long m) {
  for (long r = 0; r < m; r++)
    // CHECK: remarks.c:[[#@LINE+1]]:5: remark: zeroes lines 18 ahead of the stores, of 1 stream
    for (long i = 1; i < n - 1; i++) a[r * n + i] = b[r * n + i - 1] + b[r * n + i + 1];
}
