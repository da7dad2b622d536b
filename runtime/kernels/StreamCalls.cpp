// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The STREAM functions of <mpg/kernels.h>: argument checks, what of the tuning
// this call can use, then the loop of this processor (KernelTable.h).

#include "ArgumentChecks.h"
#include "KernelTable.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

/// One public call. Arrays that an operation does not use are null; `arrays` is
/// the number it uses.
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
  uintptr_t first = getAddress(a), second = getAddress(b);
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

// The defaults of mpg_stream_tuning, by processor:
//   A64FX        prefetch 12 lines ahead into L2, zero lines 16 ahead: the pair
//                with the best published STREAM result. A wrong pair costs up
//                to 30 %, so both are parameters. HW:a64fx-stream-published
//   other AArch64  neither: nothing was measured there
//   x86-64       stores bypass the caches if the arrays of a call are larger
//                than half of one CPU's share of L3. HW:x86-non-temporal
// The code asks for the processor's features, not its name.

#if defined(__aarch64__)

/// HW:dczid
size_t mpg::zeroFillBlockBytes() {
  uint64_t dczid;
  __asm__("mrs %0, dczid_el0" : "=r"(dczid));
  constexpr uint64_t prohibited = 1 << 4, log2Words = 15;
  return dczid & prohibited ? 0 : size_t(4) << (dczid & log2Words);
}

mpg_stream_tuning mpg::defaultStreamTuning() {
  mpg_stream_tuning tuning = {sizeof(tuning), 0, 0, UINT64_MAX};
  // Do not ask for the processor's name (MIDR_EL1): reading it traps into the
  // kernel, and the distances depend only on the line size. No other known
  // processor has lines of 256 bytes. HW:a64fx-zero-fill
  constexpr uint32_t lineBytes = 256;
  if (zeroFillBlockBytes() == lineBytes) {
    tuning.prefetchBytes = 12 * lineBytes;
    tuning.zeroFillBytes = 16 * lineBytes;
  }
  return tuning;
}

#else

size_t mpg::zeroFillBlockBytes() { return 0; }

#if defined(__x86_64__)

static uint64_t readL2Bytes() {
  unsigned sharers;
  constexpr uint64_t usualBytes = 1 << 20; // where it is not known
  uint64_t bytes = readCacheBytes(2, sharers);
  return bytes ? bytes : usualBytes;
}

/// Half of what one CPU has of L3, because a program has other arrays as well,
/// but never less than its L2. HW:x86-non-temporal
static uint64_t readNonTemporalBytes() {
  unsigned sharers = 1;
  uint64_t l3Bytes = readCacheBytes(3, sharers), l2Bytes = readL2Bytes();
  // The processor counts the CPUs that it has numbers for.
  long configured = sysconf(_SC_NPROCESSORS_CONF);
  if (configured > 0 && sharers > (unsigned long)configured)
    sharers = unsigned(configured);
  uint64_t half = l3Bytes / sharers / 2;
  return half > l2Bytes ? half : l2Bytes;
}

#else

static uint64_t readL2Bytes() { return UINT64_MAX; }
static uint64_t readNonTemporalBytes() { return UINT64_MAX; }

#endif

uint64_t mpg::ownCacheBytes() {
  static uint64_t known = 0;
  return readOnce(known, readL2Bytes);
}

mpg_stream_tuning mpg::defaultStreamTuning() {
  static uint64_t known = 0;
  return {sizeof(mpg_stream_tuning), 0, 0,
          readOnce(known, readNonTemporalBytes)};
}

#endif

int mpg_stream_tuning_default(mpg_stream_tuning *tuning) {
  if (!tuning || tuning->structBytes != sizeof(*tuning))
    return -EINVAL;
  *tuning = defaultStreamTuning();
  return 0;
}
