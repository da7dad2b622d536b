// An invalid use of MPG_FIRST_TOUCH is a warning with its line, and the code is the
// same as without it.
// RUN: cd %t && cp %s wrong.c
// DEFINE: %{cc} = %clang --target=x86_64-linux-gnu -I%source/runtime/include -fno-ident -O2 -S wrong.c
// RUN: %{cc} -DMPG_HINTS -fpass-plugin=%passes -o wrong.s 2> messages
// RUN: FileCheck %s --input-file=messages
// RUN: not grep error: messages && grep -c warning: messages | grep -x 7
// RUN: %{cc} -o plain.s && cmp wrong.s plain.s
// RUN: not %{cc} -DMPG_HINTS -fpass-plugin=%passes -Werror -o wrong.s
// The same at -O0, where nothing is touched: the annotations are gone all the same.
// RUN: %{cc} -O0 -DMPG_HINTS -fpass-plugin=%passes -o wrong.s 2> messages
// RUN: FileCheck %s --input-file=messages
// RUN: not grep error: messages && grep -c warning: messages | grep -x 7
// RUN: %{cc} -O0 -o plain.s && cmp wrong.s plain.s
#include <mpg/hints.h>
#ifdef MPG_HINTS
#define RAW(text) __attribute__((annotate(text)))
#else
#define RAW(text)
#endif
void *malloc(unsigned long);
void take(void *);

// CHECK-DAG: wrong.c:[[#@LINE+1]]: touch is ignored: this is neither a pointer nor an array; for a class such as std::vector put it in front of the function that fills it
long number(MPG_FIRST_TOUCH_OFF long a) { return a + 1; }
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:touch:{{o[nf]+}}' is ignored: contradictory hints: touch:off and touch:on; leave out one of them
MPG_FIRST_TOUCH MPG_FIRST_TOUCH_OFF long both[100];
// CHECK-DAG: wrong.c:[[#@LINE+1]]: hint 'mpg:1:touch:maybe' is ignored: unknown word 'maybe'; known: touch:off, touch:on
long maybe(RAW("mpg:1:touch:maybe") long *a) { return a[1]; }
void stack(void) {
  // CHECK-DAG: wrong.c:[[#@LINE+1]]: touch is ignored: this array is on the stack, which first touch does not place
  MPG_FIRST_TOUCH long a[100];
  take(a);
}
struct record {
  long *data;
  // CHECK-DAG: wrong.c:[[#@LINE+1]]: touch is ignored: this array is a part of something else; put it in front of the pointer to that, or of the function that allocates it
  MPG_FIRST_TOUCH long table[100];
};
// Used twice: one warning.
long field(struct record *r, long i) { return r->table[i]; }
long field2(struct record *r, long i) { return r->table[i + 1]; }
void copied(struct record *r) {
  // CHECK-DAG: wrong.c:[[#@LINE+1]]: touch is ignored: no allocation is stored in this pointer; put it in front of the variable that holds the allocation
  MPG_FIRST_TOUCH_OFF long *a = r->data;
  take(a);
}
void address(void) {
  // CHECK-DAG: wrong.c:[[#@LINE+1]]: touch is ignored: no allocation is stored in this pointer
  MPG_FIRST_TOUCH_OFF long *a = both;
  take(a);
}

// Right: set by a function that may allocate, or by another one, or not yet.
void *make(unsigned long n);
void fill(long **a);
MPG_FIRST_TOUCH_OFF extern long *elsewhere;
void right(MPG_FIRST_TOUCH_OFF long *parameter) {
  MPG_FIRST_TOUCH_OFF long *made = make(8);
  MPG_FIRST_TOUCH_OFF long *filled = 0;
  MPG_FIRST_TOUCH_OFF long *moved = parameter;
  MPG_FIRST_TOUCH_OFF long *never;
  fill(&filled);
  take(made);
  take(moved);
  take(elsewhere);
  (void)never;
}
