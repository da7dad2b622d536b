// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the STREAM kernels know about the processor's memory system: the tuning
// that a call gets without one of its own, and what DC ZVA does here.

#ifndef MPG_KERNELS_STREAMTUNING_H
#define MPG_KERNELS_STREAMTUNING_H

#include "mpg/kernels.h"

namespace mpg {

/// What is used in place of a null tuning. Thread-safe.
mpg_stream_tuning defaultStreamTuning();

#if !defined(__aarch64__)
/// The bytes of the cache that a core has for itself (L2). Thread-safe.
uint64_t ownCacheBytes();
#endif

/// The bytes that one DC ZVA zeroes, and to which they are aligned; 0 where
/// programs may not use it, or where there is no such instruction.
size_t zeroFillBlockBytes();

} // namespace mpg

#endif // MPG_KERNELS_STREAMTUNING_H
