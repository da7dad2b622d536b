// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The defaults of mpg_stream_tuning, by processor:
//   A64FX        prefetch 12 lines ahead into L2, zero lines 16 ahead: the pair
//                with the best published STREAM result. A wrong pair costs up
//                to 30 %, so both are parameters. HW:a64fx-stream-published
//   other AArch64  neither: nothing was measured there
//   x86-64       stores pass by the caches once the arrays of a call are larger
//                than half of what one CPU has of L3. HW:x86-non-temporal
// The processor is asked what it has, not who it is.

#include "StreamTuning.h"
#include "CpuCaches.h"
#include <errno.h>
#include <unistd.h>

using namespace mpg;

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
  // The name of the processor (MIDR_EL1) is not asked: reading it is a trap
  // into the kernel, and the distances go with the line. No other processor is
  // known whose lines have 256 bytes. HW:a64fx-zero-fill
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
  constexpr uint64_t usualBytes = 1 << 20; // where nobody knows
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
