// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// STREAM with AVX-512: its vectors; the loops are those of StreamX86.h. A store
// that waits for its line holds one entry of the store queue whatever its
// width: with two threads in L3 this was up to a tenth faster than AVX2,
// elsewhere the same (docs/kernels.md).

#include <immintrin.h>

namespace {

/// The vector of T, and what the language has no operator for.
template <typename T> struct Vector;

template <> struct Vector<double> {
  using Type = __m512d;
  static Type fill(double x) { return _mm512_set1_pd(x); }
  static Type load(const double *p) { return _mm512_loadu_pd(p); }
  static void store(double *p, Type x) { _mm512_storeu_pd(p, x); }
  static void stream(double *p, Type x) { _mm512_stream_pd(p, x); }
};

template <> struct Vector<float> {
  using Type = __m512;
  static Type fill(float x) { return _mm512_set1_ps(x); }
  static Type load(const float *p) { return _mm512_loadu_ps(p); }
  static void store(float *p, Type x) { _mm512_storeu_ps(p, x); }
  static void stream(float *p, Type x) { _mm512_stream_ps(p, x); }
};

} // namespace

#include "StreamX86.h"

const StreamKernels mpg::avx512Stream = x86Stream;
