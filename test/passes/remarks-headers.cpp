// An access to the user's data can sit in a header of the standard library, which the
// user cannot change: the remark names the line of the user's own code instead.
// RUN: split-file %s %t && cd %t/mine
// RUN: %hinted-cxx -O2 -isystem %t/include/c++/14 -I . -Rpass=mpg -S ../app.cpp -o app.s 2> remarks
// RUN: FileCheck ../app.cpp --input-file=remarks
// RUN: not grep 'vector.h:' remarks
// Nor is a loop there, in a function that is not inlined, said to stay as it is.
// DEFINE: %{cc} = %clangxx -g -O2 -isystem %t/include/c++/14 -I . -fpass-plugin=%passes -I%source/runtime/include -Rpass-missed=mpg -S ../app.cpp -o app.s
// RUN: env MPG_PASS_OPTIONS=stream-stores=on %{cc} --target=x86_64-linux-gnu 2> stays
// RUN: env MPG_PASS_OPTIONS=sector=auto,zfill=18,prefetch=far %{cc} --target=aarch64-linux-gnu 2>> stays
// RUN: env MPG_PASS_OPTIONS=sector=auto %{cc} --target=x86_64-linux-gnu 2>> stays
// RUN: not grep 'vector.h:' stays
// RUN: FileCheck ../app.cpp --check-prefix=STAYS --input-file=stays
// A header of the user's is the user's code.
// RUN: FileCheck own.h --input-file=remarks
//--- include/c++/14/vector.h
#include <mpg/hints.h>
template <typename T> struct vector {
  MPG_SECTOR(3) T *begin;
  T get(long i) { return begin[i]; }
  void add(T x, long n) {
    for (long i = 0; i < n; i++)
      begin[i] += x;
  }
  __attribute__((noinline)) void each(void (*call)(T *), long n) {
    for (long i = 0; i < n; i++) {
      call(begin + i);
      begin[i] = 0;
    }
  }
};
struct closer {
  ~closer() { close(this); }
  void close(closer *);
};
//--- mine/own.h
#include <mpg/hints.h>
inline void own(MPG_STREAM double *p) {
  // CHECK: own.h:[[#@LINE+1]]:{{[0-9]+}}: remark: tag 0x01
  p[7] = 1;
}
//--- app.cpp
#include "vector.h"
#include "own.h"
closer first; // its destructor is the first function of the module
double one(vector<double> &v, long i) {
  double x = 1;
  // CHECK-DAG: app.cpp:[[#@LINE+1]]:{{[0-9]+}}: remark: tag 0x03
  x += v.get(i);
  return x;
}
void all(vector<double> &v, long n) {
  // CHECK-DAG: app.cpp:[[#@LINE+1]]:{{[0-9]+}}: remark: tag 0x03
  v.add(3, n);
}
void header(double *p) { own(p); }
void outside(vector<double> &v, void (*call)(double *), long n) {
  v.each(call, n);
  // STAYS: app.cpp:[[#@LINE+2]]:{{[0-9]+}}: remark: this loop's stores go through the caches: it calls
  // STAYS: app.cpp:[[#@LINE+1]]:{{[0-9]+}}: remark: {{.*}}it calls
  for (long i = 0; i < n; i++) {
    call(v.begin + i);
    v.begin[i] = 0;
  }
}
// STAYS: app.cpp:{{.*}} remark: sector=auto has no effect
