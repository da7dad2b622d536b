// Hints on arrays, globals and fields: the accesses to that object or through that
// field are tagged, and not those of its neighbours.
// RUN: %hinted-c -O1 -fno-vectorize -fno-unroll-loops -S %s -o %t.s
// RUN: %count %t.s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
#include <mpg/hints.h>

struct grid {
  MPG_SECTOR(1) long *cells;
  long *others;
  MPG_SECTOR(2) long border[64];
  long inside[64];
  MPG_SECTOR(3) MPG_NO_L1_HWPF long *both;
};
MPG_SECTOR(2) long table[64];
long plain_table[64];
MPG_NO_L2_HWPF long *global;
long *plain_global;
MPG_SECTOR(1) long matrix[64][64];

// The field itself is loaded without a tag, what it points to with one.
// CHECK: pointer_field: 1 of {{[34]}} tagged, {{.*}}; 1 with 0x01
long pointer_field(struct grid *g) { return g->cells[2] + g->others[2]; }
// CHECK: array_field: 1 of 2 tagged, {{.*}}; 1 with 0x02
long array_field(struct grid *g, int i) { return g->border[i] + g->inside[i]; }
// CHECK: two_hints: 1 of 2 tagged, {{.*}}; 1 with 0x43
long two_hints(struct grid *g) { return g->both[2]; }
// The second time in the same function.
// CHECK: twice: 2 of 3 tagged, {{.*}}; 2 with 0x01
void twice(struct grid *g, long i, long j) {
  long *a = g->cells;
  a[i] = 1;
  a[j] = 2;
}

// CHECK: array: 1 of 2 tagged, {{.*}}; 1 with 0x02
long array(int i) { return table[i] + plain_table[i]; }
// CHECK: two_dimensions: 1 of 1 tagged, {{.*}}; 1 with 0x01
long two_dimensions(int i, int j) { return matrix[i][j]; }
// CHECK: pointer: 1 of {{[34]}} tagged, {{.*}}; 1 with 0x20
long pointer(int i) { return global[i] + plain_global[i]; }

// CHECK: local_static: 2 of 2 tagged, {{.*}}; 2 with 0x01
long local_static(int i, long j) {
  static MPG_STREAM long memory[64];
  long old = memory[i];
  memory[i] = j;
  return old;
}

// Accesses to the stack are not tagged.
void use(long *p);
// CHECK: stack: 0 of {{[0-9]+}} tagged
long stack(int i) {
  MPG_STREAM long memory[64];
  use(memory);
  return memory[i];
}
