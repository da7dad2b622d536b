// A sanitizer computes with addresses itself: with tags it reports false errors.
// One remark, and the code is the same as without hints.
// RUN: cd %t
// DEFINE: %{same} = sh -c '%hinted-c "$@" -O2 -fno-ident -Rpass-missed=mpg -S %s -o hinted.s 2> remarks && %plain-c "$@" -O2 -fno-ident -S %s -o plain.s && cmp hinted.s plain.s' sh
// DEFINE: %{remark} = FileCheck %s --input-file=remarks --implicit-check-not=remark:
// RUN: %{same} -mcpu=a64fx -fsanitize=address && %{remark}
// RUN: %{same} -mcpu=a64fx -fsanitize=hwaddress && %{remark}
// RUN: %{same} -mcpu=a64fx -fsanitize=thread && %{remark}
// RUN: %{same} -mcpu=a64fx -fsanitize=memory && %{remark}
// RUN: %{same} -march=armv8.5-a+memtag -fsanitize=memtag && %{remark}
//
// If the loader tags variables, the whole file is skipped.
// RUN: %{same} --target=aarch64-linux-android31 -march=armv8.5-a+memtag -DGLOBAL -fsanitize=memtag-globals
// RUN: FileCheck %s --check-prefix=GLOBALS --input-file=remarks
// GLOBALS: no hint is applied in sum: -fsanitize=memtag-globals uses the byte itself
//
// Not instrumented, or with a sanitizer that ignores addresses: tagged.
// RUN: %hinted-c -fsanitize=address -DFREE='__attribute__((no_sanitize("address")))' -O2 -S %s -o free.s
// RUN: %count free.s --function sum --tag 0x01 --at-least 1
// RUN: %hinted-c -fsanitize=signed-integer-overflow -O2 -S %s -o ubsan.s
// RUN: %count ubsan.s --function sum --tag 0x01 --at-least 1
#include <mpg/hints.h>
#ifndef FREE
#define FREE
#endif

#ifdef GLOBAL
long table[1000];
#endif
// CHECK: remark: no hint is applied in sum: it is compiled with a sanitizer, which uses addresses itself
FREE long sum(MPG_STREAM long *a, long n) {
  long total = 0;
  for (long i = 0; i < n; i++)
    total += a[i];
  return total;
}
