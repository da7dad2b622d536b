// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that scalar evolution knows.

#ifndef MPG_PASSES_SCEV_H
#define MPG_PASSES_SCEV_H

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <cstdint>
#include <optional>

namespace llvm {
class Function;
class ScalarEvolution;
class Type;
} // namespace llvm

namespace mpg {

/// \p expression if it is a number of at most 32 bits, whose sums and products
/// fit into 64 bits.
inline std::optional<int64_t> smallConstant(const llvm::SCEV *expression) {
  auto *number = llvm::dyn_cast<llvm::SCEVConstant>(expression);
  if (!number || number->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  return number->getAPInt().getSExtValue();
}

/// Bytes; times vscale if it is scalable. Zero is both.
struct Distance {
  int64_t bytes;
  bool isScalable;
};

std::optional<Distance> getDistance(const llvm::SCEV *expression);

/// Of one access of \p type; nothing if it has bits that memory does not have.
std::optional<Distance> getSize(llvm::Type *type,
                                const llvm::Function &function);

/// Writes expressions of \p function as code; \p name is that of its values.
llvm::SCEVExpander makeExpander(llvm::ScalarEvolution &scev,
                                const llvm::Function &function,
                                const char *name);

/// Iterations of a loop whose back edge is taken \p repeats times, in 64 bits.
/// Null: not known.
const llvm::SCEV *countTimes(const llvm::SCEV *repeats,
                             llvm::ScalarEvolution &scev);

} // namespace mpg

#endif // MPG_PASSES_SCEV_H
