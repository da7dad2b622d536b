// With LTO, ld.mpg must load the plugin without being asked, or no hint of a
// bitcode file reaches the program.
// REQUIRES: ld.mpg, llvm-22
// RUN: %a64fx %hints -O3 -flto=full -c %s -o %t.full.o
// RUN: %a64fx %hints -O3 -flto=thin -c %s -o %t.thin.o
// RUN: %a64fx -O3 -flto=full -c %s -o %t.plain.o
//
// RUN: %ldmpg -e start %t.full.o -o %t.full
// RUN: llvm-objdump -d %t.full > %t.full.s
// RUN: %tagged %t.full.s --function start --loops --all --at-least 2
// RUN: %ldmpg -e start %t.thin.o -o %t.thin
// RUN: llvm-objdump -d %t.thin > %t.thin.s
// RUN: %tagged %t.thin.s --function start --loops --all --at-least 2
//
// Bitcode without hints stays without.
// RUN: %ldmpg -e start %t.plain.o -o %t.plain
// RUN: llvm-objdump -d %t.plain > %t.plain.s
// RUN: %tagged %t.plain.s --at-most 0
// RUN: %python %tools/innermost_loops.py --same-vector-loops %t.plain.s %t.full.s

#include <mpg/hints.h>

MPG_HINT(sector=1, no_l1_hwpf) double array[100000];

void start(long n) {
  for (long i = 0; i < n; i++)
    array[i] = array[i] * 3 + 1;
}
