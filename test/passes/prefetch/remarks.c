// One remark for each loop that walks through memory: how far ahead its lines are
// prefetched, or why they are not. One prefetch for each line, cache and stream, and
// no other instruction more in a triad; LLVM 19 adds up the address of each. Off by
// default; other targets get a remark.
// DEFINE: %{options} = prefetch=far
// DEFINE: %{cc} = env MPG_PASS_OPTIONS=%{options} %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg -S %s
// RUN: %{cc} -o %t.s 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: FileCheck %s --input-file=%t.s --check-prefix=ASM
// A link for LTO optimises again, so nothing is done before it.
// RUN: %{cc} -o - -flto -emit-llvm 2>&1 | FileCheck %s --check-prefix=NONE
// REDEFINE: %{options} = prefetch=off
// RUN: %{cc} -o %t.off.s 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: remark:
// RUN: %python %tools/innermost_loops.py %t.off.s %t.s > %t.loops
// RUN: FileCheck %s --input-file=%t.loops "-D#MORE=%if llvm-22 %{6%} %else %{12%}" --check-prefix=LOOPS
// LOOPS: triad at {{[0-9]+}}: [[#LOADS:]] instructions, vector
// LOOPS: {{\.s:$}}
// LOOPS: triad at {{[0-9]+}}: [[#LOADS+MORE]] instructions, vector
// RUN: env MPG_PASS_OPTIONS=prefetch=far %clang --target=x86_64-linux-gnu -O2 -Werror -Rpass-missed=mpg -fpass-plugin=%passes -S %s -o - 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: remark: prefetch has no effect: it is for AArch64 Linux only
// Lines of the machine: FUJITSU-MONAKA's and Neoverse's have 64 bytes.
// RUN: env MPG_PASS_OPTIONS=prefetch=far %clang --target=aarch64-linux-gnu -mcpu=neoverse-v2 -O2 -fpass-plugin=%passes -S %s -o - | FileCheck %s --check-prefix=SMALL
// RUN: %if llvm-22 %{ env MPG_PASS_OPTIONS=prefetch=far %clang --target=aarch64-linux-gnu -mcpu=fujitsu-monaka -O2 -fpass-plugin=%passes -S %s -o - | FileCheck %s --check-prefix=SMALL %}
// SMALL-LABEL: chain:
// SMALL-DAG: , x0, #576
// SMALL-DAG: mov w{{[0-9]+}}, #4480
// SMALL: prfm pstl1keep
// REDEFINE: %{options} = prefetch=far,prefetch-line=0,prefetch-line-l2=20
// RUN: %{cc} -o %t.s 2>&1 | FileCheck %s --check-prefix=SECOND
// SECOND: remarks.c:[[#@LINE+10]]:3: remark: prefetches 3 streams, 20 lines ahead into L2
// RUN: FileCheck %s --input-file=%t.s --check-prefix=TWO
// TWO-LABEL: triad:
// TWO-NOT: l1keep
// TWO: prfm pstl2keep
// ASM-LABEL: triad:
// ASM-COUNT-6: prfm
// ASM-NOT: prfm
void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 3 streams, 9 lines ahead into L1, 70 lines ahead into L2
  for (long i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
// Read and written: one stream. Accesses a few elements apart: one.
// ASM-LABEL: in_place:
// ASM: prfm pstl1keep
// ASM: prfm pstl2keep
// ASM-NOT: prfm
void in_place(double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 1 stream,
  for (long i = 0; i < n; i++) a[i] *= 3;
}
// ASM-LABEL: stencil:
// ASM-COUNT-4: prfm
// ASM-NOT: prfm
void stencil(double *restrict a, const double *restrict b, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 2 streams,
  for (long i = 1; i < n; i++) a[i] = b[i - 1] + b[i] + b[i + 1];
}
// Fewer bytes than a line in an iteration: the prefetches are outside of it.
// ASM-LABEL: chain:
// ASM: Loop Header: Depth=1
// ASM: prfm pstl1keep
// ASM: prfm pstl2keep
// ASM: Loop Header: Depth=2
// ASM-NOT: prfm
void chain(double *a, long n) {
  double s = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 1 stream,
  for (long i = 0; i < n; i++) a[i] = s = s * 0.5 + a[i];
}
// As many lines as accesses, and none of LLVM's own.
// ASM-LABEL: column:
// ASM-COUNT-8: prfm
// ASM-NOT: prfm
double column(const double *a, long n) {
  double s = 0;
#pragma clang loop unroll(disable)
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 4 streams,
  for (long i = 0; i < n; i += 4) s += a[i * 200] + a[i * 200 + 200] + a[i * 200 + 400] + a[i * 200 + 600];
  return s;
}
// ASM-LABEL: own:
double own(const double *a, long n) {
  double s = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: this loop gets no prefetches: it has prefetches already
  for (long i = 0; i < n; i++) { __builtin_prefetch(a + i + 100); s = s * 0.5 + a[i]; }
  return s;
}
void few(double *a) {
  double s = 0;
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it is too short
  for (long i = 0; i < 200; i++) a[i] = s = s * 0.5 + a[i];
}
long length(const int *a) {
  long n = 0;
#pragma clang loop unroll(disable)
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: how often it runs is not known when it begins
  while (a[n] > 7) n++;
  return n;
}
__attribute__((minsize)) void small(double *a, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: it is optimised for size
  for (long i = 0; i < n; i++) a[i] *= 3;
}
void gather(double *restrict a, const int *restrict at, const double *restrict b, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 2 streams,
  for (long i = 0; i < n; i++) a[i] = b[at[i]];
}
// L1 has 64 KiB.
static double table[4096], large[16384];
void set(double s, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: {{.*}}: L1 holds what it accesses
  for (long i = 0; i < n; i++) table[i] = s = s * 0.5 + table[i];
}
double get(long i) { return table[i] + large[i]; }
void both(double s, long n) {
  // CHECK: remarks.c:[[#@LINE+1]]:3: remark: prefetches 2 streams,
  for (long i = 0; i < n; i++) large[i] = s = s * 0.5 + table[i];
}
// A pointer to a row is read by a stream, and the row has a hint: the prefetch gets no mark
// of the row, of which LLVM would warn.
// RUN: env MPG_PASS_OPTIONS=random-hints=1,prefetch=far %clang --target=aarch64-linux-gnu -mcpu=a64fx -O2 -fpass-plugin=%passes -Rpass=mpg -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=HINTED --implicit-check-not=warning:
double rows(double **row, long n) {
  double sum = 0;
  // CHECK: remarks.c:[[#@LINE+2]]:3: remark: prefetches 1 stream,
  // HINTED: remarks.c:[[#@LINE+1]]:3: remark: prefetches 1 stream,
  for (long i = 0; i < n; i++) sum += *row[i];
  return sum;
}
