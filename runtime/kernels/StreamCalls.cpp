// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The STREAM functions of <mpg/kernels.h>: argument checks, what of the tuning
// this call can use, then the loop of this processor (KernelTable.h).

#include "ArgumentChecks.h"
#include "StreamTuning.h"

using namespace mpg;

/// One public call: an array that an operation does not have is null, and
/// `arrays` says how many it has.
template <typename T> struct Arguments {
  T *a;
  const T *b, *c;
  T s;
  int64_t begin, end;
  int arrays;
  const mpg_stream_tuning *tuning;
};

static int checkTuning(const mpg_stream_tuning *tuning) {
  if (tuning && tuning->structBytes != sizeof(*tuning))
    return kernelError(EINVAL, "tuning->structBytes is %" PRIu32 ", not %zu",
                       tuning->structBytes, sizeof(*tuning));
  return 0;
}

template <typename T> static int check(const Arguments<T> &x) {
  if (int error = checkElements(x.begin, x.end))
    return error;
  if (int error = checkTuning(x.tuning))
    return error;
  if (x.begin == x.end)
    return 0;
  const char *const names[] = {"a", "b", "c"};
  const void *const arrays[] = {x.a, x.b, x.c};
  for (int i = 0; i < x.arrays; ++i)
    if (int error =
            checkReach(names[i], arrays[i], uint64_t(x.end - 1), sizeof(T)))
      return error;
  return 0;
}

static bool overlap(const void *a, const void *b, size_t bytes) {
  uintptr_t first = addressOf(a), second = addressOf(b);
  return b && (first < second ? second - first : first - second) < bytes;
}

/// The tuning of a call whose ranges are \p bytes long, without what it must
/// not do.
template <typename T>
static mpg_stream_tuning resolve(const Arguments<T> &x, size_t bytes) {
  mpg_stream_tuning tuning = x.tuning ? *x.tuning : defaultStreamTuning();
  if (overlap(x.a, x.b, bytes) || overlap(x.a, x.c, bytes)) {
    // Zeroes would take the place of what is still to be read. And the lines
    // are in the cache already: a store past it would only throw them out.
    tuning.zeroFillBytes = 0;
    tuning.nonTemporalBytes = UINT64_MAX;
  }
  return tuning;
}

template <typename T>
static int call(const Arguments<T> &x, void (*kernel)(const StreamCall<T> &)) {
  int error = check(x);
  if (error || x.begin == x.end)
    return error;
  size_t count = size_t(x.end - x.begin);
  mpg_stream_tuning tuning = resolve(x, count * sizeof(T));
  kernel({x.a + x.begin, x.b + x.begin, x.c ? x.c + x.begin : nullptr, x.s,
          count, &tuning});
  return 0;
}

int mpg_stream_copy_f64(double *a, const double *b, int64_t begin, int64_t end,
                        const mpg_stream_tuning *tuning) {
  return call<double>({a, b, nullptr, 0, begin, end, 2, tuning},
                      kernels().stream.copyF64);
}

int mpg_stream_scale_f64(double *a, const double *b, double s, int64_t begin,
                         int64_t end, const mpg_stream_tuning *tuning) {
  return call<double>({a, b, nullptr, s, begin, end, 2, tuning},
                      kernels().stream.scaleF64);
}

int mpg_stream_add_f64(double *a, const double *b, const double *c,
                       int64_t begin, int64_t end,
                       const mpg_stream_tuning *tuning) {
  return call<double>({a, b, c, 0, begin, end, 3, tuning},
                      kernels().stream.addF64);
}

int mpg_stream_triad_f64(double *a, const double *b, const double *c, double s,
                         int64_t begin, int64_t end,
                         const mpg_stream_tuning *tuning) {
  return call<double>({a, b, c, s, begin, end, 3, tuning},
                      kernels().stream.triadF64);
}

int mpg_stream_copy_f32(float *a, const float *b, int64_t begin, int64_t end,
                        const mpg_stream_tuning *tuning) {
  return call<float>({a, b, nullptr, 0, begin, end, 2, tuning},
                     kernels().stream.copyF32);
}

int mpg_stream_scale_f32(float *a, const float *b, float s, int64_t begin,
                         int64_t end, const mpg_stream_tuning *tuning) {
  return call<float>({a, b, nullptr, s, begin, end, 2, tuning},
                     kernels().stream.scaleF32);
}

int mpg_stream_add_f32(float *a, const float *b, const float *c, int64_t begin,
                       int64_t end, const mpg_stream_tuning *tuning) {
  return call<float>({a, b, c, 0, begin, end, 3, tuning},
                     kernels().stream.addF32);
}

int mpg_stream_triad_f32(float *a, const float *b, const float *c, float s,
                         int64_t begin, int64_t end,
                         const mpg_stream_tuning *tuning) {
  return call<float>({a, b, c, s, begin, end, 3, tuning},
                     kernels().stream.triadF32);
}
