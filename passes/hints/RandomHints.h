// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests: a hint for every variable, so that any program shows whether tags
// change what it computes.

#ifndef MPG_PASSES_RANDOMHINTS_H
#define MPG_PASSES_RANDOMHINTS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Instruction.h"
#include <cstdint>

namespace mpg {

/// Calls \p choose with each access of \p function that can be tagged and a tag
/// that depends on \p seed, the function and the variable: the same for all
/// accesses through one variable. Entries of prefetch injection are among the
/// tags if \p extended.
void chooseRandomHints(
    llvm::Function &function, uint64_t seed, bool extended,
    llvm::function_ref<void(llvm::Instruction &, uint8_t)> choose);

} // namespace mpg

#endif // MPG_PASSES_RANDOMHINTS_H
