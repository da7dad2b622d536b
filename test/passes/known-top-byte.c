// The top byte of the base is known to be zero: code generation must not take
// the "or" of a tag for an addition, and the two addresses for different
// memory. Otherwise the store of the saved value, in front of and behind the
// tagged ones, is deleted, and 6 or 4 is printed for 3.
// REQUIRES: qemu-aarch64, aarch64-linux-gnu-gcc
// RUN: cd %t
// DEFINE: %{run} = sh -c '%hinted-c "$@" -static -no-pie %s -o program && %run512 ./program' sh
// RUN: %{run} -O1 | FileCheck %s
// RUN: %{run} -O2 | FileCheck %s
// RUN: llvm-objdump --disassemble-symbols=plain_masked,twice_masked,plain_down,twice_handle program > program.s
// RUN: %count program.s --function plain_masked --tag 0x01 --at-least 1
// RUN: %count program.s --function plain_down --tag 0x01 --at-least 1
// RUN: %count program.s --function twice_masked --tag 0x02 --at-least 1
// RUN: %count program.s --function twice_handle --tag 0x01 --at-least 1
// RUN: %{run} -O3 | FileCheck %s
// RUN: %{run} -O3 -fglobal-isel | FileCheck %s
// RUN: %{run} -O3 -flto=full --ld-path=%lld -Wl,--load-pass-plugin=%passes | FileCheck %s
// RUN: %{run} -O3 -flto=thin --ld-path=%lld -Wl,--load-pass-plugin=%passes | FileCheck %s
//
// The test can see it: the same code where the tag is not hidden.
// RUN: %hinted-c -O2 -S -emit-llvm %s -o hidden.ll
// RUN: sed 's/call i64 asm "", "=r,0"(i64 \(%[^)]*\)).*/or i64 \1, 0/' hidden.ll > seen.ll
// RUN: not cmp -s hidden.ll seen.ll
// RUN: %llc -O2 -filetype=obj seen.ll -o seen.o
// RUN: %plain-c -static -no-pie seen.o -o seen && %run512 ./seen | FileCheck %s --check-prefix=SEEN
// CHECK-COUNT-8: {{^[a-z]+: 2 4 3 8, 4 4 3 4,$}}
// SEEN-COUNT-8: {{^[a-z]+: 2 4 6 8, 4 4 4 4,$}}
#include <mpg/hints.h>
#include <stdint.h>
#include <stdio.h>

// Pairs of a tagged pointer with an untagged one, and with another tag.
#define KINDS(name, type, base)                                                \
  __attribute__((noinline)) float plain_##name(type b, const float *w) {       \
    float *x = (float *)(base);                                                \
    MPG_STREAM float *s = x;                                                   \
    float keep = x[2];                                                         \
    for (int i = 0; i < 4; i++)                                                \
      s[i] *= w[i];                                                            \
    x[2] = keep;                                                               \
    return keep;                                                               \
  }                                                                            \
  __attribute__((noinline)) float twice_##name(type b, const float *w) {       \
    float *x = (float *)(base);                                                \
    MPG_STREAM float *s = x;                                                   \
    MPG_SECTOR(2) float *t = x;                                                \
    float keep = t[2];                                                         \
    for (int i = 0; i < 4; i++)                                                \
      s[i] = 2 * w[i];                                                         \
    t[2] = keep;                                                               \
    return keep;                                                               \
  }

#define NAN_BOX (UINT64_C(0x7ff8) << 48)
KINDS(masked, uint64_t, b & UINT64_C(0xffffffffffff))
KINDS(unboxed, uint64_t, (b ^ NAN_BOX) & UINT64_C(0xffffffffffff))
KINDS(handle, uint32_t, (uintptr_t)b)
KINDS(truncated, uint64_t, (uintptr_t)(uint32_t)(b >> 4))
KINDS(scaled, uint32_t, (uint64_t)b * 64)
KINDS(xored, uint32_t, (uint64_t)b ^ UINT64_C(0x5a5a0))
KINDS(down, uint64_t, b & UINT64_C(0x00ffffffffffffc0))
KINDS(shifted, uint64_t, b >> 16 << 4)

static _Alignas(64) float x[4];
static const float weights[4] = {2, 2, 2, 2};

static void start(void) {
  for (int i = 0; i < 4; i++)
    x[i] = (float)(i + 1);
}
static void print(void) {
  printf(" %g %g %g %g,", (double)x[0], (double)x[1], (double)x[2],
         (double)x[3]);
}
#define RUN(name, argument)                                                    \
  printf("%s:", #name);                                                        \
  start(), plain_##name(argument, weights), print();                           \
  start(), twice_##name(argument, weights), print();                           \
  puts("");
int main(void) {
  uint64_t at = (uint64_t)(uintptr_t)x;
  RUN(masked, at | NAN_BOX)
  RUN(unboxed, at ^ NAN_BOX)
  RUN(handle, (uint32_t)at)
  RUN(truncated, at << 4 | 5)
  RUN(scaled, (uint32_t)(at / 64))
  RUN(xored, (uint32_t)(at ^ 0x5a5a0))
  RUN(down, at + 60)
  RUN(shifted, at << 12 | 0x7ff)
}
