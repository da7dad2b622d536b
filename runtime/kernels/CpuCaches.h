// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caches of an x86-64 processor. It is asked itself, not the C library,
// whose sysconf adds up all caches of one kind under some hypervisors and does
// not know who shares them.

#ifndef MPG_KERNELS_CPUCACHES_H
#define MPG_KERNELS_CPUCACHES_H

#include <stdint.h>

namespace mpg {

/// Bytes of the cache of \p level (2, 3) that one CPU sees, and how many CPUs
/// may share it; 0 if there is none or the processor does not say.
/// HW:cpuid-caches
uint64_t readCacheBytes(unsigned level, unsigned &sharers);

/// What \p read gives, which is not 0, asked for once: under a hypervisor CPUID
/// takes longer than a short call. \p known: 0 at first. Thread-safe.
uint64_t readOnce(uint64_t &known, uint64_t (*read)());

} // namespace mpg

#endif // MPG_KERNELS_CPUCACHES_H
