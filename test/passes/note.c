// mpgaudit, mpgrun and the runtime know of the hints by the note alone: wrong bytes,
// and the machine is set up for what the program does not use.
// REQUIRES: aarch64-linux-gnu-gcc
// RUN: split-file %s %t && cd %t
// DEFINE: %{decode} = %python %inputs/decode_note.py
// RUN: %hinted-c -O1 -fno-unroll-loops -c one.c && %hinted-c -O1 -c two.c && %hinted-c -O1 -c none.c
// RUN: %{decode} one.o | FileCheck %s --check-prefix=ONE
// ONE: version 1 flags 0 llvm {{22|21|19}} tags 01 42 sectors 0x6 injection 0x0 l1 -,-,-,- l2 -,-,-,- accesses 3 sites 0
//
// Ways: of several, the larger number for each sector.
// RUN: %{decode} two.o | FileCheck %s --check-prefix=TWO
// TWO: version 1 flags 0 llvm {{22|21|19}} tags 63 sectors 0x8 injection 0x0 l1 3,1,-,- l2 10,6,-,- accesses 1 sites 0
//
// Entries of prefetch injection.
// RUN: env MPG_PASS_OPTIONS=extended=on %hinted-c -O1 -c three.c
// RUN: %{decode} three.o | FileCheck %s --check-prefix=THREE
// THREE: version 1 flags 1 llvm {{22|21|19}} tags 80 d1 sectors 0x3 injection 0x21 l1 -,-,-,- l2 -,-,-,- accesses 2 sites 0
//
// A linker puts one behind the other.
// RUN: %clang --target=aarch64-linux-gnu -shared -nostdlib --ld-path=%lld one.o none.o two.o -o lib.so
// RUN: %{decode} lib.so > linked && FileCheck %s --check-prefixes=ONE,TWO --input-file=linked
// RUN: grep -c version linked | grep -x 2
// RUN: llvm-readelf -lS lib.so | FileCheck %s --check-prefix=ELF
// ELF: .note.mpg.hints NOTE {{.*}} A
// ELF: NOTE
// RUN: aarch64-linux-gnu-gcc -shared -nostdlib one.o two.o -o bfd.so && %{decode} bfd.so | grep -c version | grep -x 2
//
// --gc-sections keeps it.
// RUN: %clang --target=aarch64-linux-gnu -shared -nostdlib --ld-path=%lld -Wl,--gc-sections one.o -o gc.so && %{decode} gc.so | grep -c version | grep -x 1
//
// Without hints, on another machine, or not optimised: none.
// RUN: %{decode} none.o | count 0
// RUN: %clang --target=x86_64-linux-gnu -I%source/runtime/include -DMPG_HINTS -fpass-plugin=%passes -O1 -c one.c -o x86.o && %{decode} x86.o | count 0
// RUN: %hinted-c -O0 -c one.c -o o0.o && %{decode} o0.o | count 0
// RUN: env MPG_PASS_OPTIONS=sector=off %hinted-c -O1 -c one.c -o off.o && %{decode} off.o | count 0

//--- one.c
#include <mpg/hints.h>
long a1(MPG_STREAM long *a) { return a[1] * a[7]; }
long a2(MPG_HINT(sector=2, no_l1_hwpf) long *a) { return a[1]; }
//--- two.c
#include <mpg/hints.h>
MPG_WAYS(l2=4) void w1(long *a) { a[1] = 1; }
MPG_WAYS(l2=6, l1=1) void w2(MPG_HINT(sector=3, no_hwpf) long *a) { a[1] = 1; }
//--- three.c
#include <mpg/hints.h>
long a1(MPG_INJECT(0) long *a) { return a[1]; }
long a2(MPG_INJECT(5) MPG_STREAM long *a) { return a[1]; }
//--- none.c
#include <mpg/hints.h>
long b(long *a) { return a[1]; }
