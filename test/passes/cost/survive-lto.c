// A hint gets lost between the compile and the link: with LTO, most of the
// optimiser, the vectoriser for one, runs in the linker.
// REQUIRES: ld.lld-22, llvm-22
// RUN: split-file %s %t
//
// RUN: %a64fx %hints -O3 -flto=full -c %t/main.c -o %t/main.full.o
// RUN: %a64fx %hints -O3 -flto=full -c %t/kernel.c -o %t/kernel.full.o
// RUN: %a64fx %hints -O3 -flto=thin -c %t/main.c -o %t/main.thin.o
// RUN: %a64fx %hints -O3 -flto=thin -c %t/kernel.c -o %t/kernel.thin.o
// RUN: %a64fx %hints -O3 -c %t/kernel.c -o %t/kernel.o
//
// RUN: ld.lld-22 --load-pass-plugin=%plugin -e start %t/main.full.o %t/kernel.full.o -o %t/full
// RUN: llvm-objdump -d %t/full > %t/full.s
// RUN: ld.lld-22 --load-pass-plugin=%plugin -e start %t/main.thin.o %t/kernel.thin.o -o %t/thin
// RUN: llvm-objdump -d %t/thin > %t/thin.s
// RUN: ld.lld-22 --load-pass-plugin=%plugin -e start %t/main.thin.o %t/kernel.o -o %t/mixed
// RUN: llvm-objdump -d %t/mixed > %t/mixed.s
//
// Everything is inlined into start, from the other file too.
// RUN: %tagged %t/full.s --function start --loops --tag 0x01 --at-least 2
// RUN: %tagged %t/full.s --function start --loops --tag 0x42 --at-least 2
// RUN: %tagged %t/full.s --function start --loops --all
// RUN: %tagged %t/thin.s --function start --loops --tag 0x01 --at-least 2
// RUN: %tagged %t/thin.s --function start --loops --tag 0x42 --at-least 2
// RUN: %tagged %t/thin.s --function start --loops --all
//
// A file without LTO brings its tags along.
// RUN: %tagged %t/mixed.s --function start --loops --tag 0x42 --at-least 2
// RUN: %tagged %t/mixed.s --function kernel --loops --tag 0x01 --at-least 2
//
// No tag costs anything in the loops here, either.
// RUN: %a64fx -O3 -flto=full -c %t/main.c -o %t/main.plain.o
// RUN: %a64fx -O3 -flto=full -c %t/kernel.c -o %t/kernel.plain.o
// RUN: ld.lld-22 -e start %t/main.plain.o %t/kernel.plain.o -o %t/plain
// RUN: llvm-objdump -d %t/plain > %t/plain.s
// RUN: %python %tools/innermost_loops.py --same-vector-loops %t/plain.s %t/full.s
// RUN: %tagged %t/plain.s --at-most 0
//
// Objects with tags do not make the linker tag what has no hints.
// RUN: ld.lld-22 --load-pass-plugin=%plugin -e start %t/main.plain.o %t/kernel.plain.o -o %t/none
// RUN: llvm-objdump -d %t/none > %t/none.s
// RUN: %tagged %t/none.s --at-most 0

//--- main.c
#include <mpg/hints.h>

void kernel(double *a, long n, double s);
double array[100000];

static void shift(MPG_HINT(sector=2, no_l1_hwpf) double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] += 1;
}

void start(long n) {
  kernel(array, n, 3.0);
  __asm__ volatile("" ::: "memory");
  shift(array, n);
}

//--- kernel.c
#include <mpg/hints.h>

void kernel(MPG_STREAM double *a, long n, double s) {
  for (long i = 0; i < n; i++)
    a[i] *= s;
}
