// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Volatile and atomic accesses in loops beside plain ones of the same arrays.
#include <stdatomic.h>
#include <stdio.h>

enum { count = 500 };
static volatile int device[count];
static atomic_int counters[count];
static int plain[count];

__attribute__((noinline)) static int drive(volatile int *port, int *log) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    port[i] = i;
    log[i] = port[i] + port[i];
    sum += log[i];
  }
  return sum;
}

__attribute__((noinline)) static int countUp(atomic_int *c, const int *by) {
  int old = 0;
  for (int i = 0; i < count; ++i) {
    old += atomic_fetch_add(&c[i], by[i]);
    int expected = by[i];
    atomic_compare_exchange_strong(&c[i], &expected, by[i] + 1);
    old += atomic_load_explicit(&c[i], memory_order_acquire);
  }
  return old;
}

int main(void) {
  int first = drive(device, plain), second = countUp(counters, plain);
  second += countUp(counters, plain);
  // The same array again, as if it were not volatile for the others.
  int *same = (int *)plain;
  for (int i = 1; i < count; ++i)
    same[i] += same[i - 1];
  long sum = 0;
  for (int i = 0; i < count; ++i)
    sum += atomic_load(&counters[i]) % 101 + device[i];
  printf("%d %d %d %ld\n", first, second, plain[count - 1], sum);
  return first == count * (count - 1) && plain[count - 1] == first ? 0 : 1;
}
