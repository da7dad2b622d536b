// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that scalar evolution knows.

#ifndef MPG_PASSES_SCEV_H
#define MPG_PASSES_SCEV_H

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// \p expression if it is a number of at most 32 bits, whose sums and products
/// fit into 64 bits.
inline std::optional<int64_t> smallConstant(const llvm::SCEV *expression) {
  auto *number = llvm::dyn_cast<llvm::SCEVConstant>(expression);
  if (!number || number->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  return number->getAPInt().getSExtValue();
}

} // namespace mpg

#endif // MPG_PASSES_SCEV_H
