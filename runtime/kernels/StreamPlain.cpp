// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// STREAM in plain C++, for any processor: what StreamAvx2.cpp and StreamSve.cpp
// must compute to the bit. The compiler makes of it what it can; the tuning is
// not used.

#include "KernelTable.h"

using namespace mpg;

/// b + s * c, rounded as all variants of this architecture do. Spelled out for
/// AArch64: left to the compiler, fusing depends on its options.
static double multiplyAdd(double b, double s, double c) {
#if defined(__aarch64__)
  return __builtin_fma(s, c, b);
#else
  return b + s * c;
#endif
}

static float multiplyAdd(float b, float s, float c) {
#if defined(__aarch64__)
  return __builtin_fmaf(s, c, b);
#else
  return b + s * c;
#endif
}

/// A T at any alignment.
template <typename T> struct Loose {
  T value;
} __attribute__((packed, may_alias));

/// a[i] = \p operation(b[i], c[i]). Operations without c get b twice.
template <typename T, typename Operation>
static void run(const StreamCall<T> &call, Operation operation) {
  Loose<T> *a = reinterpret_cast<Loose<T> *>(call.a);
  const Loose<T> *b = reinterpret_cast<const Loose<T> *>(call.b);
  const Loose<T> *c = call.c ? reinterpret_cast<const Loose<T> *>(call.c) : b;
  for (size_t i = 0; i < call.count; ++i)
    a[i].value = operation(b[i].value, c[i].value);
}

template <typename T> static void copy(const StreamCall<T> &call) {
  run(call, [](T b, T) { return b; });
}

template <typename T> static void scale(const StreamCall<T> &call) {
  run(call, [s = call.s](T b, T) { return s * b; });
}

template <typename T> static void add(const StreamCall<T> &call) {
  run(call, [](T b, T c) { return b + c; });
}

template <typename T> static void triad(const StreamCall<T> &call) {
  run(call, [s = call.s](T b, T c) { return multiplyAdd(b, s, c); });
}

const StreamKernels mpg::plainStream = {
    copy<double>, scale<double>, add<double>, triad<double>,
    copy<float>,  scale<float>,  add<float>,  triad<float>};
