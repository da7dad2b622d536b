// The optimiser makes memcpy and memset of copy and fill loops; those take no tags,
// so a hint would be lost without a word.
// RUN: cd %t
// DEFINE: %{tagged} = sh -c '%hinted-c $0 -S %s -o hinted.s && %count hinted.s --function copy --loops --tag 0x01 --at-least 1 && %count hinted.s --function fill --loops --tag 0x02 --at-least 1 && %count hinted.s --function copyFrom --loops --tag 0x01 --at-least 1 && %count hinted.s --function nontemporal --tag 0x01 --at-least 1 && FileCheck %s --input-file=hinted.s --implicit-check-not=memcpy --implicit-check-not=memset --implicit-check-not=memmove'
// RUN: %{tagged} -O2
// RUN: %{tagged} -O1
// RUN: %{tagged} -O3
// RUN: %{tagged} -Os
//
// Without hints they become calls, as ever, with the plugin too.
// RUN: %hinted-c -UMPG_HINTS -O2 -S %s -o plain.s && FileCheck %s --check-prefix=PLAIN --input-file=plain.s
//
// The marks that keep the loops are gone afterwards; the user's own nontemporal store is
// not.
// RUN: %hinted-c -O2 -S -emit-llvm %s -o hinted.ll
// RUN: FileCheck %s --check-prefix=IR --input-file=hinted.ll
// RUN: %hinted-c -O2 -S %s -Rpass=mpg -o hinted.s 2> remarks && FileCheck %s --check-prefix=REMARK --input-file=remarks
#include <mpg/hints.h>

// CHECK: copy:
// CHECK: fill:
// CHECK: copyFrom:
// PLAIN-LABEL: copy:
// PLAIN: mem{{cpy|move}}
// PLAIN-LABEL: fill:
// PLAIN: memset
// PLAIN-LABEL: copyFrom:
// PLAIN: mem{{cpy|move}}

// REMARK: keep-loops.c:[[#@LINE+3]]:{{[0-9]+}}: remark: this loop does not become a memcpy or memset: those take no hints [-Rpass=mpg]
void copy(MPG_STREAM double *restrict a, const double *restrict b, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i];
}
// IR-LABEL: define {{.*}} @fill(
// IR-NOT: nontemporal
// IR: ret void
void fill(MPG_SECTOR(2) double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] = 0;
}
// REMARK: keep-loops.c:[[#@LINE+3]]:{{[0-9]+}}: remark: this loop does not become
void copyFrom(double *restrict a, MPG_STREAM const double *restrict b, long n) {
  for (long i = 0; i < n; i++)
    a[i] = b[i];
}
// IR-LABEL: define {{.*}} @nontemporal(
// IR: store {{.*}}!nontemporal ![[USERS:[0-9]+]]
// IR: ![[USERS]] = !{i32 1}
void nontemporal(MPG_STREAM double *a, double x) {
  __builtin_nontemporal_store(x, a + 3);
}
