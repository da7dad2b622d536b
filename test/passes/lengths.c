// LLVM makes calls of strlen and wcslen of loops, which no tag can go into: with a remark.
// REQUIRES: llvm-22
// RUN: %hinted-c -O2 -Rpass-missed=mpg -S %s -o %t.s 2> %t.txt
// RUN: FileCheck %s --input-file=%t.txt --implicit-check-not="a loop became"
// RUN: %hinted-c -O2 -fno-builtin-strlen -fno-builtin-wcslen -Rpass-missed=mpg -S %s -o %t.s 2> %t.txt
// RUN: %count %t.s --function length --tag 0x01 --at-least 1
// RUN: not grep "a loop became" %t.txt
#include <mpg/hints.h>
#include <stddef.h>
size_t length(MPG_STREAM const char *s) {
  const char *p = s;
  // CHECK: lengths.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint is not applied here: a loop became a call of strlen or wcslen: compile with -fno-builtin-strlen
  while (*p) p++;
  return p - s;
}
// CHECK: lengths.c:[[#@LINE+3]]:{{[0-9]+}}: remark: the hint is not applied here: a loop became a call
size_t wide(MPG_STREAM const int *s) {
  size_t n = 0;
  while (s[n]) n++;
  return n;
}
// A call that the user wrote is not a lost loop.
size_t strlen(const char *);
size_t own(MPG_STREAM const char *s) { return s[1] + strlen(s); }
