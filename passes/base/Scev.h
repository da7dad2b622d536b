// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that scalar evolution knows.

#pragma once

#include "base/LLVM.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <cstdint>
#include <optional>

namespace mpg {

/// \p expression if it is a number of at most 32 bits, whose sums and products
/// fit into 64 bits.
inline std::optional<int64_t> smallConstant(const SCEV *expression) {
  auto *number = dyn_cast<SCEVConstant>(expression);
  if (!number || number->getAPInt().getSignificantBits() > 32)
    return std::nullopt;
  return number->getAPInt().getSExtValue();
}

/// Bytes; times vscale if it is scalable. Zero is both.
struct Distance {
  int64_t bytes;
  bool isScalable;
};

std::optional<Distance> getDistance(const SCEV *expression);

/// Of one access of \p type; nothing if it has bits that memory does not have.
std::optional<Distance> getSize(Type *type, const Function &function);

/// Writes expressions of \p function as code; \p name is that of its values.
SCEVExpander makeExpander(ScalarEvolution &scev, const Function &function,
                          const char *name);

/// Iterations of a loop whose back edge is taken \p repeats times, in 64 bits.
/// Null: not known.
const SCEV *countTimes(const SCEV *repeats, ScalarEvolution &scev);

} // namespace mpg
