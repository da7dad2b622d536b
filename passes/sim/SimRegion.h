// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that mpgsim --sample=FUNCTION may name.

#ifndef MPG_PASSES_SIMREGION_H
#define MPG_PASSES_SIMREGION_H

#include "sim/SimTable.h"

namespace mpg {

/// Gives \p function a look at a byte of its own at its begin, by which the
/// runtime learns when the region begins and ends that a user has named.
void addSimRegion(llvm::Function &function, SimTable &table);

} // namespace mpg

#endif // MPG_PASSES_SIMREGION_H
