// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loops behind <mpg/kernels.h>, one table for each instruction set. A
// table's functions rely on what the public functions have checked: pointers
// are not null, ranges are not empty, arrays fit, indices are in range.
//
// Intrinsics appear only in *Avx2.cpp, *Avx512.cpp and *Sve.cpp, and in the
// headers that only these include. These files are compiled for that
// instruction set; nothing else of the library may be.

#pragma once

#include "mpg/kernels.h"

namespace mpg {

/// One call of a STREAM kernel, whatever its operation. Pointers refer to the
/// first element of the range. `c` is null for operations with one source.
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

/// The kernels that a processor can run. mpg_kernel_variant returns `name`.
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

/// Of an x86-64 processor: bytes of the cache of \p level (2, 3) that one CPU
/// sees, and how many CPUs may share it. 0 if there is none or the processor
/// does not report it. By CPUID leaf 4 (Intel) and 0x8000001D (AMD): EAX 4:0
/// type (0: none), 7:5 level, 25:14 the CPUs that share it minus one; EBX line,
/// partitions and ways, ECX sets, each minus one. It agrees with sysfs (32 MiB
/// of L3) where glibc 2.36's sysconf says 384 MiB (measured).
uint64_t readCacheBytes(unsigned level, unsigned &sharers);

/// What \p read gives, which is not 0, asked for once: under a hypervisor CPUID
/// takes longer than a short call. \p known: 0 at first. Thread-safe.
uint64_t readOnce(uint64_t &known, uint64_t (*read)());

// The STREAM kernels' view of the processor's memory system

/// The tuning used in place of a null one. Thread-safe.
mpg_stream_tuning defaultStreamTuning();

#if !defined(__aarch64__)
/// Bytes of the private cache of a core (L2). Thread-safe.
uint64_t ownCacheBytes();
#endif

/// The bytes that one DC ZVA zeroes, which is also their alignment; 0 where
/// programs may not use it or the instruction does not exist.
size_t zeroFillBlockBytes();

} // namespace mpg
