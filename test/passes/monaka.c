// No public document says that FUJITSU-MONAKA acts on hints: a compile for it leaves
// them out, and says so once. The same source for another AArch64 has tags.
// REQUIRES: llvm-22
// DEFINE: %{cpu} = fujitsu-monaka
// DEFINE: %{cc} = %hinted-c -O2 -mcpu=%{cpu} -Rpass=mpg -Rpass-missed=mpg -S %s
// RUN: %{cc} -o %t.s 2> %t.said && FileCheck %s --implicit-check-not=remark: < %t.said
// RUN: %count %t.s --function first --at-most 0
// CHECK: remark: no hint is applied in first: no public document says that FUJITSU-MONAKA acts on tags
// RUN: env MPG_PASS_OPTIONS=sector=auto %{cc} -o %t.auto.s 2>&1 | FileCheck %s --check-prefix=AUTO
// AUTO: remark: sector=auto has no effect: no public document says that FUJITSU-MONAKA acts on tags
// RUN: not grep mpg_sector_begin %t.s %t.auto.s
// REDEFINE: %{cpu} = neoverse-v2
// RUN: %{cc} -o %t.s 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=MONAKA
// RUN: %count %t.s --function first --tag 0x01 --at-least 1
// OTHER: remark: tag
#include <mpg/hints.h>

MPG_WAYS(l2 = 2) double first(MPG_STREAM const double *values, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++)
    sum += values[i];
  return sum;
}

double second(MPG_STREAM const double *values, MPG_KEEP const double *table,
              const int *at, long count) {
  double sum = 0;
  for (long i = 0; i < count; i++)
    sum += values[i] * table[at[i]];
  return sum;
}
