// Two pointers with the same hint may come together: the access gets it. With another hint, or
// none, it gets no tag, and the remark is at the access. No remark says beside a tag that
// the hint changes nothing.
// RUN: %hinted-c -O2 -Rpass=mpg -Rpass-missed=mpg -S %s -o hinted.s 2> remarks
// RUN: FileCheck %s --input-file=remarks && not grep "changes nothing" remarks
// RUN: grep -c "not applied" remarks | grep -x 2
// RUN: %count hinted.s --function chosen --tag 0x01 --at-least 1
// RUN: %count hinted.s --function swapped --tag 0x01 --at-least 1
#include <mpg/hints.h>
void take(double *);

double chosen(MPG_STREAM double *a, MPG_STREAM double *b, int c, long n) {
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum += (c ? a : b)[i];
  return sum;
}
void swapped(MPG_STREAM double *a, MPG_STREAM double *b, long n) {
  double *from = a, *to = b;
  for (int step = 0; step < 10; step++) {
    for (long i = 1; i < n; i++)
      to[i] = from[i] + from[i - 1];
    double *swap = from;
    from = to;
    to = swap;
  }
}
// CHECK-DAG: merged-pointers.c:[[#@LINE+4]]:{{[0-9]+}}: remark: the hint of {{.*}}merged-pointers.c:[[#@LINE+1]] is not applied here: the pointer may also be one that has another hint or none
double one_of_two(MPG_STREAM double *a, double *b, int c, long n) {
  double sum = a[0];
  for (long i = 0; i < n; i++)
    sum += (c ? a : b)[i];
  return sum;
}
// CHECK-DAG: merged-pointers.c:[[#@LINE+4]]:{{[0-9]+}}: remark: the hint of {{.*}}merged-pointers.c:[[#@LINE+1]] is not applied here: the pointer is passed to a function
void passed(MPG_STREAM double *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] += 1;
  take(a);
}
