// The ways out that are easy to forget: exceptions that pass through, those that are
// caught, and tail calls that may not be separated from their return.
// REQUIRES: aarch64-linux-gnu-gcc, aarch64-linux-gnu-g++, qemu-aarch64
// RUN: cd %t
// DEFINE: %{level} = -O1
// DEFINE: %{run} = %hinted-cxx %{level} -c %s -o program.o && aarch64-linux-gnu-gcc -I%source/runtime/include -c %inputs/sector_calls.c -o calls.o && aarch64-linux-gnu-g++ -static program.o calls.o -o program && %run512 ./program 2>&1 | FileCheck %s
// RUN: %{run}
// REDEFINE: %{level} = -O3
// RUN: %{run}
#include <cstdio>
#include <mpg/hints.h>

struct Guard {
  ~Guard() { std::fputs("guard\n", stderr); }
};
__attribute__((noinline)) void thrower(int n) {
  if (n)
    throw n;
}
// Its destructor makes it clean up, so the ways end there.
MPG_WAYS(l2=4) __attribute__((noinline)) void passes(int n) {
  Guard guard;
  thrower(n);
}
// It has nothing to clean up, and the ways end all the same.
MPG_WAYS(l2=7) __attribute__((noinline)) void passes_on(int n) {
  thrower(n);
}
MPG_WAYS(l2=5) __attribute__((noinline)) int catches(int n) {
  try {
    thrower(n);
  } catch (int x) {
    return x + 1;
  }
  return 0;
}
__attribute__((noinline)) int target(int n) {
  std::fputs("target\n", stderr);
  return n;
}
// The ways end in front of a call that must be the last thing.
MPG_WAYS(l2=6) __attribute__((noinline)) int tail(int n) {
  [[clang::musttail]] return target(n + 1);
}

int main() {
  // CHECK: begin 255 255 255 255 10 4: 0
  // CHECK-NEXT: guard
  // CHECK-NEXT: end 0
  passes(0);
  // CHECK-NEXT: begin 255 255 255 255 10 4: 0
  // CHECK-NEXT: guard
  // CHECK-NEXT: end 0
  // CHECK-NEXT: caught
  try {
    passes(3);
  } catch (int) {
    std::fputs("caught\n", stderr);
  }
  // CHECK-NEXT: begin 255 255 255 255 7 7: 0
  // CHECK-NEXT: end 0
  passes_on(0);
  // CHECK-NEXT: begin 255 255 255 255 7 7: 0
  // CHECK-NEXT: end 0
  // CHECK-NEXT: caught
  try {
    passes_on(3);
  } catch (int) {
    std::fputs("caught\n", stderr);
  }
  // CHECK-NEXT: begin 255 255 255 255 9 5: 0
  // CHECK-NEXT: end 0
  // CHECK-NEXT: begin 255 255 255 255 9 5: 0
  // CHECK-NEXT: end 0
  int sum = catches(0) + catches(4);
  // CHECK-NEXT: begin 255 255 255 255 8 6: 0
  // CHECK-NEXT: end 0
  // CHECK-NEXT: target
  sum += tail(1);
  // CHECK-NEXT: sum 7
  std::fprintf(stderr, "sum %d\n", sum);
  return 0;
}
