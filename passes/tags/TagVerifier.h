// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes sure that no tagged pointer gets anywhere but into loads, stores and
// prefetches: compared, stored or passed on it would change what the program
// computes.

#ifndef MPG_PASSES_TAGVERIFIER_H
#define MPG_PASSES_TAGVERIFIER_H

#include "llvm/IR/Instruction.h"

namespace mpg {

/// Walks all that is computed from \p tagged. Returns the first instruction
/// that may not have it, or nullptr.
const llvm::Instruction *findEscape(const llvm::Instruction &tagged);

} // namespace mpg

#endif // MPG_PASSES_TAGVERIFIER_H
