// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By how much an address grows from one thread to the next, or from one
// iteration to the next. Seen through sign extensions: a valid program's
// indices do not overflow, and flang's are of 32 bits.

#ifndef MPG_PASSES_ADDRESSGROWTH_H
#define MPG_PASSES_ADDRESSGROWTH_H

#include <cstdint>
#include <optional>

namespace llvm {
class Loop;
class SCEV;
} // namespace llvm

namespace mpg {

/// Per thread, where \p expression depends on omp_get_thread_num(), also as an
/// argument: 0 if it does not, nothing if not by a constant.
std::optional<int64_t> growthPerThread(const llvm::SCEV *expression);

/// Per iteration of \p loop: 0 if it does not change there, nothing if not by a
/// constant.
std::optional<int64_t> growthPerIteration(const llvm::SCEV *expression,
                                          const llvm::Loop &loop);

} // namespace mpg

#endif // MPG_PASSES_ADDRESSGROWTH_H
