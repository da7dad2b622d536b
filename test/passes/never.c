// The machine's reaction to a tag is known only for plain loads, stores and
// prefetches: all other instructions must get the plain address, or the program
// changes.
// RUN: cd %t
// RUN: %hinted-c -O2 -fno-ident -S %s -o hinted.s
// RUN: %plain-c -O2 -fno-ident -S %s -o plain.s
// RUN: cmp hinted.s plain.s
// RUN: %hinted-c -O2 -fno-ident -S -DCONTROL %s -o control.s
// RUN: %count control.s --function control --tag 0x01 --at-least 1
// RUN: %hinted-c -O2 -Rpass-missed=mpg -S %s -o hinted.s 2> remarks
// RUN: FileCheck %s --input-file=remarks
#include <mpg/hints.h>
#include <stddef.h>

struct block {
  long bytes[40];
};
void take(long *p);
void takeBlock(struct block b);

// CHECK-DAG: never.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: it is volatile, which is never tagged
long volatileLoad(MPG_STREAM volatile long *a) { return a[1]; }
void volatileStore(MPG_STREAM volatile long *a) { a[1] = 1; }
// CHECK-DAG: never.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: it is atomic, which is never tagged
long relaxed(MPG_STREAM long *a) { return __atomic_load_n(a, __ATOMIC_RELAXED); }
void sequential(MPG_STREAM long *a) { __atomic_store_n(a, 1, __ATOMIC_SEQ_CST); }
long add(MPG_STREAM long *a) { return __atomic_fetch_add(a, 3, __ATOMIC_ACQ_REL); }
_Bool exchange(MPG_STREAM long *a, long *b) {
  return __atomic_compare_exchange_n(a, b, 3, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED);
}
// CHECK-DAG: never.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: it is a memcpy, memmove or memset
void copy(MPG_STREAM long *a, MPG_SECTOR(2) long *b) { __builtin_memcpy(a, b, 800); }
void fill(MPG_STREAM long *a, size_t n) { __builtin_memset(a, 0, n); }
void move(MPG_STREAM long *a, size_t n) { __builtin_memmove(a, a + 1, n); }
// CHECK-DAG: never.c:[[#@LINE+1]]:{{[0-9]+}}: remark: the hint of {{.*}}:[[#@LINE+1]] changes nothing: the pointer is passed to a function: put the hint on its parameter
void call(MPG_STREAM long *a) { take(a + 1); }
_Bool compare(MPG_STREAM long *a, long *b) { return a + 1 == b; }
long difference(MPG_STREAM long *a, long *b) { return a - b; }
long *returned(MPG_STREAM long *a) { return a + 1; }
void stored(MPG_STREAM long *a, long **b) { *b = a; }
unsigned long number(MPG_STREAM long *a) { return (unsigned long)a; }
long assembly(MPG_STREAM long *a) {
  long result;
  __asm__("ldr %0, %1" : "=r"(result) : "m"(*a));
  __asm__ volatile("str xzr, [%0]" : : "r"(a) : "memory");
  return result;
}
void aggregate(MPG_STREAM struct block *a) { takeBlock(*a); }
long stack(int i) {
  MPG_STREAM long here[40];
  take(here);
  return here[i];
}

#ifdef CONTROL
long control(MPG_STREAM long *a) { return a[1]; }
#endif
