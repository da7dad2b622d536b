// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of <mpg/kernels.h> over all threads of an OpenMP team, as inline
// functions, because libmpg itself needs only the C library. C++17; link with
// -lmpgrt.
//
//   #include <mpg/kernels_omp.hpp>
//   mpg::streamTriad(a, b, c, 3.0, count);   // a[i] = b[i] + 3 * c[i]
//
// Thread t of n gets the elements that `schedule(static)` would give it, so
// arrays that were touched first in such a loop are read locally. Borders move
// up to the next line of the destination, so that no two threads write one line
// of 256 bytes (HW:a64fx-l1d-way), and zero fill and cache-bypassing stores
// stay inside of a thread's part.
//
// Without -fopenmp, and when called by the threads of a team, the caller does
// the whole range itself. All functions return 0, or the C function's negative
// errno with nothing written; mpg_kernel_error() then has its sentence in the
// calling thread. They allocate and throw nothing. Compile all files of a
// program that include this with OpenMP, or none: otherwise the linker picks
// one of two definitions of each function.
#ifndef MPG_KERNELS_OMP_HPP
#define MPG_KERNELS_OMP_HPP

#include "mpg/embedding_omp.hpp"
#include "mpg/kernels.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace mpg {
namespace team {

/// The largest line of a processor that the kernels know.
constexpr uint64_t lineBytes = 256;

/// The first element of part \p part of \p parts, where all elements are
/// `first[i * stepBytes]`. From element 0 on, without gaps, and with a line's
/// border after each part but the last.
inline int64_t beginOf(int64_t part, int64_t parts, const void *first,
                       uint64_t stepBytes, int64_t count) {
  int64_t begin = embedding_detail::shareBegin(count, part, parts);
  if (begin == 0 || begin == count)
    return begin;
  uint64_t address =
      reinterpret_cast<uintptr_t>(first) + uint64_t(begin) * stepBytes;
  // Element begin - 1 ends in the line in front of the border, if its own
  // alignment lets it.
  uint64_t missing = (lineBytes - address % lineBytes) % lineBytes;
  uint64_t more = (missing + stepBytes - 1) / stepBytes;
  return more < uint64_t(count - begin) ? begin + int64_t(more) : count;
}

/// Whether element \p last of an array has an address. Checked first: otherwise
/// the part of one thread would fail while others have begun to write.
inline bool reaches(const void *array, int64_t last, uint64_t elementBytes) {
  uint64_t address = reinterpret_cast<uintptr_t>(array);
#ifdef __aarch64__
  address = address << 8 >> 8; // without the tag
#endif
  const uint64_t max = uint64_t(INTPTR_MAX);
  return address <= max && uint64_t(last) < (max - address) / elementBytes;
}

/// `run(begin, end)` for each part of [0, count). \p first and \p stepBytes:
/// the destination, see beginOf. \p alone: in one part, by the caller.
template <typename Run>
int forEachPart(const void *first, uint64_t stepBytes, int64_t count,
                bool alone, const Run &run) {
#ifdef _OPENMP
  if (!alone && count > 0 && !omp_in_parallel()) {
    int error = 0;
    int64_t failed = INT64_MAX;
#pragma omp parallel
    {
      const int64_t part = omp_get_thread_num(), parts = omp_get_num_threads();
      int64_t begin = beginOf(part, parts, first, stepBytes, count);
      int64_t end = beginOf(part + 1, parts, first, stepBytes, count);
      if (int mine = begin < end ? run(begin, end) : 0) {
#pragma omp critical(mpg_kernels_omp)
        if (part < failed) {
          failed = part;
          error = mine;
        }
      }
    }
    return error;
  }
#endif
  (void)first, (void)stepBytes, (void)alone;
  return run(int64_t(0), count);
}

/// \p c is \p b for operations with one source.
template <typename T, typename Run>
int stream(T *a, const T *b, const T *c, int64_t count, const Run &run) {
  const int64_t last = count > 0 ? count - 1 : 0;
  bool fits = reaches(a, last, sizeof(T)) && reaches(b, last, sizeof(T)) &&
              reaches(c, last, sizeof(T));
  return forEachPart(a, sizeof(T), count, !fits, run);
}

} // namespace team

/// a[i] = b[i] for i in [0, count); the others likewise. See
/// mpg_stream_copy_f64.
inline int streamCopy(double *a, const double *b, int64_t count,
                      const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, b, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_copy_f64(a, b, begin, end, tuning);
  });
}
inline int streamCopy(float *a, const float *b, int64_t count,
                      const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, b, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_copy_f32(a, b, begin, end, tuning);
  });
}

/// a[i] = s * b[i].
inline int streamScale(double *a, const double *b, double s, int64_t count,
                       const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, b, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_scale_f64(a, b, s, begin, end, tuning);
  });
}
inline int streamScale(float *a, const float *b, float s, int64_t count,
                       const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, b, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_scale_f32(a, b, s, begin, end, tuning);
  });
}

/// a[i] = b[i] + c[i].
inline int streamAdd(double *a, const double *b, const double *c, int64_t count,
                     const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, c, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_add_f64(a, b, c, begin, end, tuning);
  });
}
inline int streamAdd(float *a, const float *b, const float *c, int64_t count,
                     const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, c, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_add_f32(a, b, c, begin, end, tuning);
  });
}

/// a[i] = b[i] + s * c[i].
inline int streamTriad(double *a, const double *b, const double *c, double s,
                       int64_t count,
                       const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, c, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_triad_f64(a, b, c, s, begin, end, tuning);
  });
}
inline int streamTriad(float *a, const float *b, const float *c, float s,
                       int64_t count,
                       const mpg_stream_tuning *tuning = nullptr) {
  return team::stream(a, b, c, count, [=](int64_t begin, int64_t end) {
    return mpg_stream_triad_f32(a, b, c, s, begin, end, tuning);
  });
}

/// y[i * stride] += a * x[i * stride] for i in [0, count). See mpg_saxpy_f32.
inline int saxpy(float *y, const float *x, float a, int64_t count,
                 int64_t stride = 1) {
  // The C function reports other errors.
  bool fits = stride >= 1 && count >= 1 && stride <= INT64_MAX / count;
  const int64_t last = fits ? (count - 1) * stride : 0;
  fits = fits && team::reaches(y, last, sizeof(float)) &&
         team::reaches(x, last, sizeof(float));
  const uint64_t stepBytes = fits ? uint64_t(stride) * sizeof(float) : 1;
  return team::forEachPart(y, stepBytes, count, !fits,
                           [=](int64_t begin, int64_t end) {
                             return mpg_saxpy_f32(y, x, a, begin, end, stride);
                           });
}

/// The first \p count updates of mpg_random_update_u64. The table is shared:
/// the threads may lose a few updates to each other, as the benchmark allows.
inline int randomUpdate(uint64_t *table, int64_t words, int64_t count) {
  // Parts of the sequence, which has no lines: each number is a border.
  return team::forEachPart(
      nullptr, team::lineBytes, count, false, [=](int64_t begin, int64_t end) {
        return mpg_random_update_u64(table, words, begin, end);
      });
}

} // namespace mpg

#endif // MPG_KERNELS_OMP_HPP
