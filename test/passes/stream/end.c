// Nothing is mapped in front of and behind the arrays. A loop with stores past the caches starts its
// rounds at the border of a line, wherever that is, and reads no more than the loop without them.
// REQUIRES: host-x86_64, clang-22
// RUN: env MPG_PASS_OPTIONS=stream-stores=on,verify=on,test-large=always %clang --target=x86_64-linux-gnu -O2 -fpass-plugin=%passes -Rpass=mpg -Rpass-missed=mpg %s -o %t 2>&1 | FileCheck %s
// RUN: %t | grep -x '0 wrong'
#include <stdio.h>
#include <sys/mman.h>
enum { page = 4096, floats = page / 4, max = 500 };
#define LOOP(name, reads, value)                                                                      \
  static float name##_one(const float *from, long n, long i) { return value; }                        \
  __attribute__((noinline)) static void name(float *restrict to, const float *restrict from, long n) { \
    for (long i = 0; i < n; i++) to[i] = value;                                                       \
  }                                                                                                   \
  static long name##_reads(long n) { return reads; }
// CHECK-DAG: end.c:[[#@LINE+1]]:1: remark: stores past the caches
LOOP(scale, n, 2 * from[i])
// CHECK-DAG: end.c:[[#@LINE+1]]:1: remark: stores past the caches
LOOP(neighbours, n + 2, from[i] + from[i + 2])
// CHECK-DAG: end.c:[[#@LINE+1]]:1: remark: stores past the caches
LOOP(backwards, n + 1, from[n - i])
// CHECK-DAG: end.c:[[#@LINE+1]]:1: remark: stores past the caches
LOOP(pairs, 2 * n, from[2 * i] + from[2 * i + 1])
// The compiler reads the gap behind the last element, too, where one more follows.
// CHECK-DAG: end.c:[[#@LINE+1]]:1: remark: stores past the caches
LOOP(seconds, 2 * n - 1, from[2 * i])
static float *map(void) {
  char *all = mmap(0, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(all + page, page, PROT_READ | PROT_WRITE);
  return (float *)(all + page);
}
int main(void) {
  static const struct {
    void (*run)(float *restrict, const float *restrict, long);
    float (*one)(const float *, long, long);
    long (*reads)(long);
  } loops[] = {{scale, scale_one, scale_reads},
               {neighbours, neighbours_one, neighbours_reads},
               {backwards, backwards_one, backwards_reads},
               {pairs, pairs_one, pairs_reads},
               {seconds, seconds_one, seconds_reads}};
  float *to = map(), *from = map();
  long wrong = 0;
  for (int i = 0; i < floats; i++) from[i] = i;
  for (unsigned at = 0; at < sizeof loops / sizeof *loops; at++)
    for (long n = 1; n <= max; n++)
      for (int side = 0; side < 4; side++) {
        float *written = side & 1 ? to : to + floats - n;
        const float *read = side & 2 ? from : from + floats - loops[at].reads(n);
        loops[at].run(written, read, n);
        for (long i = 0; i < n; i++) wrong += written[i] != loops[at].one(read, n, i);
      }
  printf("%ld wrong\n", wrong);
}
