// A block of the heap is named by the line that allocates it: the variables that get its
// address there must have the hint, others on the line and elsewhere must not, and a name
// that fits nothing must be warned about.
// RUN: split-file %s %t && cd %t
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml %hinted-c -O1 -g -fno-vectorize -fno-unroll-loops -S app.c -o app.s 2> messages
// RUN: FileCheck hints.yaml --input-file=messages && grep -c warning: messages | grep -x 4
// RUN: %count app.s > counts && FileCheck app.c --input-file=counts
// Without debug information no line has a block.
// RUN: env MPG_PASS_OPTIONS=hints=hints.yaml %hinted-c -g0 -O1 -S app.c -o none.s 2> /dev/null
// RUN: %count none.s --at-most 0
//--- hints.yaml
app.c:6/first: stream
app.c:13: sector=2
app.c:22/own: sector=3
app.c:33: sector=1
# CHECK-DAG: warning: hints.yaml:[[#@LINE+1]]: no variable 'absent' gets a pointer from a call in line 6 of 'app.c'
app.c:6/absent: stream
# CHECK-DAG: warning: hints.yaml:[[#@LINE+1]]: no variable gets a pointer from a call in line 28 of 'app.c'; put the macro in front of the pointers to that block
app.c:28: stream
# CHECK-DAG: warning: hints.yaml:[[#@LINE+1]]: no variable gets a pointer from a call in line 1 of 'app.c'
app.c:1: stream
# CHECK-DAG: warning: hints.yaml:[[#@LINE+1]]: 'app.c:6' is a block of the heap, which has no ways and no lines
app.c:6/first: ways:l2=4
other.c:6: stream
//--- app.c
void *malloc(unsigned long);
void use(double *);
static double *kept;
// CHECK: named: 1 of 2 tagged, {{.*}}; 1 with 0x01
double named(long n) {
  double *first = malloc(n), *second = malloc(n);
  use(first); use(second);
  return first[n] + second[n];
}
static double *make(long n) { return malloc(n * 8); }
// CHECK: global: 1 of 4 tagged, {{.*}}; 1 with 0x02
double global(long n, double *x) {
  kept = make(n);
  use(x);
  return kept[n] + x[n];
}
#define MAKE(n) ({ double *own = malloc(n); own; })
// CHECK: macro: 1 of 2 tagged, {{.*}}; 1 with 0x03
double macro(long n, double *x) {
  double *got;
  use(x);
  got = MAKE(n);
  use(got);
  return got[n] + x[n];
}
struct grid { double *cells; };
void member(struct grid *grid, long n) {
  grid->cells = malloc(n);
}
// A line of an included file with the same number is another line.
// CHECK: included: 1 of 2 tagged, {{.*}}; 1 with 0x01
double included(long n, double *other) {
  double *p = malloc(n);
  use(p);
  if (n > 3)
#line 33 "copy.inc"
    other = p;
#line 40 "app.c"
  use(other);
  return p[n] + other[n];
}
