// Where the compiler may round in several ways, a loop stays serial: otherwise the
// last bits of some elements differ from the plain program's. Here the compiler
// itself computes the elements left over after the vectors, and rounds once what the
// processor rounds twice. For a processor without fused operations, such as x86-64.
// REQUIRES: host-x86_64
// DEFINE: %{run} = sh -c '%clang -fopenmp "$@" -c %s -o %t.plain.o && %link -no-pie %t.plain.o -o %t.plain && %t.plain > %t.expected && %all-c "$@" -c %s -o %t.o 2> %t.txt && %link -no-pie %t.o -o %t && env OMP_NUM_THREADS=3 %t > %t.out && cmp %t.out %t.expected' sh
// DEFINE: %{remarks} = %all-c -S -emit-llvm -o /dev/null %s
// RUN: %{run} -O3
// RUN: FileCheck %s --input-file=%t.txt --check-prefixes=CHECK,TWICE,SLOW,FREE
// A processor that rounds once: LLVM rounds twice where it knows both factors.
// RUN: %{remarks} -O3 -march=haswell 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE,SLOW,FREE
// RUN: %{remarks} -O3 --target=aarch64-linux-gnu 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE,SLOW,FREE
// A product and a sum with flags, as flang makes them: rounded twice everywhere
// here, and twice or once with FMA and for a partly specified processor.
// RUN: %{run} -O3 -ffp-contract=fast
// RUN: FileCheck %s --input-file=%t.txt --check-prefixes=CHECK,ONE,SLOW,FREE
// RUN: %{remarks} -O3 -ffp-contract=fast -march=haswell 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE,SLOW,FLAG
// RUN: %{remarks} -O3 -ffp-contract=fast -march=haswell -mno-fma 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE,SLOW,FLAG
// RUN: %{remarks} -O3 -ffp-contract=fast --target=aarch64-linux-gnu 2>&1 | FileCheck %s --check-prefixes=CHECK,TWICE,SLOW,FLAG
// RUN: %{run} -O3 -ffast-math
// RUN: FileCheck %s --input-file=%t.txt --check-prefixes=CHECK,FAST
#define ALONE __attribute__((noinline)) static
enum { n = 1100003 };
float a[n];

ALONE void scale(void) {
  // CHECK-DAG: :[[#@LINE+1]]:{{.*}}remark: parallel
  for (long i = 0; i < n; i++)
    a[i] = i * 0.1f;
}
ALONE void ramp(void) {
  // TWICE-DAG: :[[#@LINE+3]]:{{.*}}serial: it has a product and a sum that may be rounded once or twice (-ffp-contract)
  // ONE-DAG: :[[#@LINE+2]]:{{.*}}remark: parallel
  // FAST-DAG: :[[#@LINE+1]]:{{.*}}serial: it has arithmetic that may be done in any order (-ffast-math)
  for (long i = 0; i < n; i++)
    a[i] = i * 0.1f + 0.3f;
}
ALONE void chosen(float sign) {
  // FLAG-DAG: :[[#@LINE+3]]:{{.*}}serial: it has a product and a sum
  // FREE-DAG: :[[#@LINE+2]]:{{.*}}remark: parallel
  // FAST-DAG: :[[#@LINE+1]]:{{.*}}serial: it has arithmetic
  for (long i = 0; i < n; i++)
    a[i] = 0.3f - (sign < 0 ? -(i * 0.1f) : i * 0.1f);
}
ALONE void inverse(void) {
  // SLOW-DAG: :[[#@LINE+2]]:{{.*}}remark: parallel
  // FAST-DAG: :[[#@LINE+1]]:{{.*}}serial: it has a quotient or a function that may be approximated (-ffast-math)
  for (long i = 0; i < n; i++)
    a[i] = 1 / (float)(i + 1);
}
ALONE void root(void) {
  // SLOW-DAG: :[[#@LINE+2]]:{{.*}}remark: parallel
  // FAST-DAG: :[[#@LINE+1]]:{{.*}}serial: it has a quotient or a function
  for (long i = 0; i < n; i++)
    a[i] = __builtin_elementwise_sqrt((float)i);
}

int printf(const char *, ...);
__attribute__((noinline)) static void show(void) {
  unsigned long hash = 0;
  // CHECK-DAG: :[[#@LINE+1]]:{{.*}}serial: an iteration uses a value
  for (long i = 0; i < n; i++) {
    unsigned bits;
    __builtin_memcpy(&bits, a + i, 4);
    hash = hash * 31 + bits;
  }
  printf("%lx %.9g\n", hash, a[n - 1]);
}
int main(int count, char **words) {
  scale(), show();
  ramp(), show();
  chosen(count), show();
  inverse(), show();
  root(), show();
}
