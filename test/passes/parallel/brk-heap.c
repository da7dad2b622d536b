// Memory of brk stays on normal pages whatever libmpg does, and a program's own heap there
// collides with malloc's: each call gets a remark, except those that move nothing or are
// not system calls.
// RUN: split-file %s %t && cd %t
// RUN: %hinted-c -O2 -Rpass-missed=mpg -c own-heap.c -o own-heap.o 2>&1 | grep remark: | sort -t: -k2n > remarks
// RUN: FileCheck own-heap.c --implicit-check-not=remark: --input-file=remarks
// RUN: %hinted-c -O2 -Rpass-missed=mpg -c others.c -o others.o 2>&1 | count 0
// RUN: %hinted-c -O0 -Rpass-missed=mpg -c own-heap.c -o own-heap.o 2>&1 | count 0
// RUN: env MPG_PASS_OPTIONS=first-touch=off %hinted-c -O2 -Rpass-missed=mpg -c own-heap.c -o own-heap.o 2>&1 | count 0
//--- own-heap.c
void *sbrk(long);
int brk(void *);
void *grow(long bytes) {
  // CHECK: own-heap.c:[[#@LINE+1]]:{{.*}} sbrk gives memory that is never on large pages{{.*}} use malloc
  return sbrk(bytes);
}
int shrink(void *end) {
  // CHECK: own-heap.c:[[#@LINE+1]]:{{.*}} brk gives memory
  return brk(end);
}
//--- others.c
void *sbrk(long);
void *malloc(unsigned long);
void *where(void) { return sbrk(0); }
void *grow(long bytes) { return malloc(bytes); }
__attribute__((noinline)) int brk(void *end) { return end != 0; }
int use(void *p) { return brk(p); }
