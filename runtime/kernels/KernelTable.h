// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops behind <mpg/kernels.h>, one table for each instruction set. What is
// in a table may take for granted what the public functions have checked:
// pointers are there, ranges are not empty, arrays fit, indices are in range.
//
// Intrinsics stand in *Avx2.cpp, *Avx512.cpp and *Sve.cpp alone, and in the
// headers that only these include. They are compiled for that instruction set;
// nothing else of the library may be.

#ifndef MPG_KERNELS_KERNELTABLE_H
#define MPG_KERNELS_KERNELTABLE_H

#include "mpg/kernels.h"

namespace mpg {

/// One call of a STREAM kernel, whatever its operation. Pointers are at the
/// first element of the range. `c` is null where there is none.
template <typename T> struct StreamCall {
  T *a;
  const T *b, *c;
  T s;
  size_t count;
  const mpg_stream_tuning *tuning; ///< resolved: what cannot be used is 0
};

struct StreamKernels {
  void (*copyF64)(const StreamCall<double> &call);
  void (*scaleF64)(const StreamCall<double> &call);
  void (*addF64)(const StreamCall<double> &call);
  void (*triadF64)(const StreamCall<double> &call);
  void (*copyF32)(const StreamCall<float> &call);
  void (*scaleF32)(const StreamCall<float> &call);
  void (*addF32)(const StreamCall<float> &call);
  void (*triadF32)(const StreamCall<float> &call);
};

/// One call of the lookup, in bytes.
struct LookupCall {
  const char *table; ///< with its tag on AArch64
  size_t rowBytes, tableStrideBytes;
  const void *indices; ///< at the first one of the range
  char *out;           ///< at the first row of the range
  size_t outStrideBytes;
  size_t count;
};

struct LookupKernels {
  void (*index32)(const LookupCall &call);
  void (*index64)(const LookupCall &call);
};

extern const StreamKernels plainStream;
extern const LookupKernels plainLookup;
#if defined(__x86_64__)
extern const StreamKernels avx2Stream;
extern const StreamKernels avx512Stream;
extern const LookupKernels avx2Lookup;
#elif defined(__aarch64__)
extern const StreamKernels sveStream;
extern const LookupKernels sveLookup;
#endif

/// What a processor can run. `name` is what mpg_kernel_variant says.
struct KernelTable {
  const char *name;
  const StreamKernels &stream;
  const LookupKernels &lookup;
};

/// The best table for this processor; always the same one. Thread-safe.
const KernelTable &kernels();

/// Says for mpg_kernel_error of the calling thread what \p format makes, as
/// printf does. Returns -\p error.
int kernelError(int error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

} // namespace mpg

#endif // MPG_KERNELS_KERNELTABLE_H
