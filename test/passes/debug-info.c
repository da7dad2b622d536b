// Debug information and tags: a phi that is repeated with a tag must not take the
// debug records of the next instruction with it, which a link with LTO ends over
// ("Broken module found"); and a pointer that walks has a place to be shown from.
// REQUIRES: aarch64-linux-gnu-gcc, qemu-aarch64
// RUN: cd %t
// RUN: %hinted-c -O2 -g -c %s -o walk.o && llvm-objdump -d walk.o > walk.s
// RUN: %count walk.s --function find --tag 0x01 --loops --at-least 1
// RUN: %hinted-c -O1 -g -S -emit-llvm %s -o - | FileCheck %s --check-prefix=PLACE
// PLACE-LABEL: @skip(
// PLACE: %[[AT:.*]] = phi ptr
// PLACE: #dbg_value(ptr %[[AT]], ![[#]], !DIExpression(DW_OP_constu, 72057594037927935, DW_OP_and, DW_OP_stack_value)
// PLACE-NOT: poison
// PLACE: !llvm.loop
//
// A pointer that was needed in plain form before is shown from the tagged one after
// the tag: code generation drops records of a plain one that only tags need next.
// RUN: %hinted-c -O1 -g -fno-discard-value-names -S -emit-llvm %s -o - | FileCheck %s --check-prefix=BOTH
// BOTH-LABEL: @keep(
// BOTH: #dbg_value(ptr %p, ![[P:[0-9]+]], !DIExpression(), ![[#]])
// BOTH: %tagged = inttoptr
// BOTH-NEXT: #dbg_value(ptr %tagged, ![[P]], !DIExpression(DW_OP_constu, 72057594037927935, DW_OP_and, DW_OP_stack_value), ![[#]])
//
// Arguments of inlined code are shown from the tagged pointer where that code uses no
// other, even for a global variable, which code generation knows only in the blocks
// that use it; the caller's own variable is unchanged.
// RUN: %hinted-c -O1 -g -S -emit-llvm %s -o - | FileCheck %s --check-prefix=INLINED
// INLINED-LABEL: @jump(
// INLINED: %[[PLAIN:.*]] = phi ptr
// INLINED: %[[TAGGED:.*]] = phi ptr
// INLINED: #dbg_value(ptr %[[PLAIN]], ![[#]], !DIExpression(), ![[#]])
// INLINED: #dbg_value(ptr %[[TAGGED]], ![[#]], !DIExpression(DW_OP_constu, 72057594037927935, DW_OP_and, DW_OP_stack_value), ![[#]])
// INLINED: load i16, ptr %[[TAGGED]]
// INLINED-LABEL: @total(
// INLINED: %[[TABLE:.*]] = inttoptr
// INLINED: phi float
// INLINED: #dbg_value(ptr %[[TABLE]], ![[#]], !DIExpression(DW_OP_constu, 72057594037927935, DW_OP_and, DW_OP_stack_value), ![[#]])
// INLINED: load float
//
// RUN: %hinted-c -O3 -g -flto=full --ld-path=%lld -Wl,--load-pass-plugin=%passes -static %s -o full
// RUN: %run512 ./full | FileCheck %s
// RUN: %hinted-c -O1 -g -static %s -o plain && %run512 ./plain | FileCheck %s
// CHECK: 110 7
#include <mpg/hints.h>
#include <stdio.h>

__attribute__((noinline)) float walk(MPG_STREAM float *p, MPG_STREAM float *q,
                                     long n) {
  float sum = 0;
  MPG_STREAM float *a = p;
  float *end = p + n;
  while (a != end) {
    float x = *a;
    sum += x * *q;
    a++;
    q += 2;
  }
  return sum;
}

const void *kept;
__attribute__((noinline)) float keep(MPG_STREAM const float *p, long n) {
  kept = p;
  float sum = 0;
  for (long i = 0; i < n; i++)
    sum += p[i];
  return sum;
}

__attribute__((noinline)) long find(MPG_STREAM const char *s, char c) {
  MPG_STREAM const char *at = s;
  while (*at && *at != c)
    at++;
  return at - s;
}

float skip(MPG_STREAM const float *p, long n) {
  MPG_STREAM const float *at = p;
  float sum = 0;
  for (long i = 0; i < n; i++) {
    sum += *at;
    at += 2;
  }
  return sum;
}

static inline unsigned short first(MPG_STREAM const unsigned short *numbers) {
  return *numbers;
}
long jump(const unsigned short *at, const unsigned short *end) {
  long jumps = 0;
  for (; at < end; jumps++)
    at += first(at) + 1;
  return jumps;
}

float table[512];
static inline float element(MPG_STREAM const float *array, long i) {
  return array[i];
}
float total(long n) {
  float sum = 0;
  for (long i = 0; i < n; i++)
    sum += element(table, i);
  return sum;
}

int main(void) {
  float p[5] = {1, 2, 3, 4, 5}, q[10];
  for (int i = 0; i < 10; i++)
    q[i] = (float)(i + 2);
  printf("%g %ld\n", (double)walk(p, q, 5), find("find me, me", ','));
  return 0;
}
