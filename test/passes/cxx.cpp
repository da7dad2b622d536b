// Hints in C++: fields of templates, references, methods, lambdas, members that
// are pointers. Accesses without a hint are not tagged.
// RUN: %hinted-cxx -O1 -fno-vectorize -fno-unroll-loops -S %s -o %t.s
// RUN: %count %t.s > %t.txt
// RUN: FileCheck %s --input-file=%t.txt
#include <mpg/hints.h>

template <typename T> struct Vector {
  MPG_STREAM T *data;
  T *other;
  T &at(long i) { return data[i]; }
};

extern "C" {
// CHECK: member: 1 of {{[34]}} tagged, {{.*}}; 1 with 0x01
double member(Vector<double> &v) { return v.data[3] + v.other[3]; }
// CHECK: of_floats: 1 of 2 tagged, {{.*}}; 1 with 0x01
float of_floats(Vector<float> &v) { return v.data[3]; }
// CHECK: reference: 1 of 2 tagged, {{.*}}; 1 with 0x02
double reference(MPG_SECTOR(2) double &a, double &b) { return a + b; }
// CHECK: array_reference: 1 of 2 tagged, {{.*}}; 1 with 0x02
double array_reference(MPG_SECTOR(2) double (&a)[8], double (&b)[8], int i) {
  return a[i] + b[i];
}
}

struct Kernel {
  double *a;
  MPG_SECTOR(3) double *b;
  double run(MPG_STREAM const double *c, long i) const;
  MPG_STREAM void fill(double *d, long i) const;
};
// The definition's own hint counts, and the field's; a has none.
// CHECK: _ZNK6Kernel3runEPKdl: 2 of {{[45]}} tagged, {{.*}}; 1 with 0x01, 1 with 0x03
double Kernel::run(MPG_STREAM const double *c, long i) const {
  return a[i] + b[i] + c[i];
}
// CHECK: _ZNK6Kernel4fillEPdl: 1 of 1 tagged, {{.*}}; 1 with 0x01
MPG_STREAM void Kernel::fill(double *d, long i) const { d[i] = 1; }

// CHECK: _Z6lambdaPdS_l: 1 of 2 tagged, {{.*}}; 1 with 0x01
double lambda(double *a, double *b, long i) {
  auto get = [](MPG_STREAM double *p, long i) { return p[i]; };
  return get(a, i) + b[i];
}
// CHECK: _Z9range_forRA64_dPd: 1 of 2 tagged, {{.*}}; 1 with 0x01
double range_for(MPG_STREAM double (&a)[64], double *b) {
  double sum = b[1];
  for (double x : a)
    sum += x;
  return sum;
}
