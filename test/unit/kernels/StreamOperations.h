// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The STREAM operations of <mpg/kernels.h> by their number, and their answers
// for one element: for tests that try all of them (StreamCases.h,
// kernels_random.cpp).

#pragma once

#include <cmath>
#include <cstring>
#include <mpg/kernels.h>

namespace streamcases {

enum Operation { copy, scale, add, triad };

inline int callStream(Operation operation, double *a, const double *b,
                      const double *c, double s, int64_t begin, int64_t end,
                      const mpg_stream_tuning *tuning) {
  switch (operation) {
  case copy:
    return mpg_stream_copy_f64(a, b, begin, end, tuning);
  case scale:
    return mpg_stream_scale_f64(a, b, s, begin, end, tuning);
  case add:
    return mpg_stream_add_f64(a, b, c, begin, end, tuning);
  case triad:
    break;
  }
  return mpg_stream_triad_f64(a, b, c, s, begin, end, tuning);
}

inline int callStream(Operation operation, float *a, const float *b,
                      const float *c, float s, int64_t begin, int64_t end,
                      const mpg_stream_tuning *tuning) {
  switch (operation) {
  case copy:
    return mpg_stream_copy_f32(a, b, begin, end, tuning);
  case scale:
    return mpg_stream_scale_f32(a, b, s, begin, end, tuning);
  case add:
    return mpg_stream_add_f32(a, b, c, begin, end, tuning);
  case triad:
    break;
  }
  return mpg_stream_triad_f32(a, b, c, s, begin, end, tuning);
}

/// b + s * c, rounded as <mpg/kernels.h> specifies.
template <typename T> T plusProduct(T b, T s, T c) {
#ifdef __aarch64__
  return std::fma(s, c, b);
#else
  volatile T product = s * c; // rounded, whatever the compiler's options
  return b + product;
#endif
}

template <typename T> T expected(Operation operation, T b, T c, T s) {
  switch (operation) {
  case copy:
    return b;
  case scale:
    return s * b;
  case add:
    return b + c;
  case triad:
    break;
  }
  return plusProduct(b, s, c);
}

/// The same bits; for arithmetic, NaN is NaN.
template <typename T> bool same(Operation operation, T one, T other) {
  return memcmp(&one, &other, sizeof(T)) == 0 ||
         (operation != copy && std::isnan(one) && std::isnan(other));
}

} // namespace streamcases
