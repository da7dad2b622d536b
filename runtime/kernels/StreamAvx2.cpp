// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// STREAM with AVX2: its vectors; the loops are those of StreamX86.h.

#include <immintrin.h>

namespace {

/// The vector of T, and what the language has no operator for.
template <typename T> struct Vector;

template <> struct Vector<double> {
  using Type = __m256d;
  static Type fill(double x) { return _mm256_set1_pd(x); }
  static Type load(const double *p) { return _mm256_loadu_pd(p); }
  static void store(double *p, Type x) { _mm256_storeu_pd(p, x); }
  static void stream(double *p, Type x) { _mm256_stream_pd(p, x); }
};

template <> struct Vector<float> {
  using Type = __m256;
  static Type fill(float x) { return _mm256_set1_ps(x); }
  static Type load(const float *p) { return _mm256_loadu_ps(p); }
  static void store(float *p, Type x) { _mm256_storeu_ps(p, x); }
  static void stream(float *p, Type x) { _mm256_stream_ps(p, x); }
};

} // namespace

#include "StreamX86.h"

const StreamKernels mpg::avx2Stream = x86Stream;
