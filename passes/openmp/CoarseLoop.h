// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Worksharing loops with so few iterations that some threads get one more than
// others, or none, around a loop that could be shared out with them.
//
// Only told where collapse is legal as far as we can see: the loops are nested
// perfectly, and iterations of the inner one do not need each other.

#ifndef MPG_PASSES_COARSELOOP_H
#define MPG_PASSES_COARSELOOP_H

#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Emits CoarseLoop for the worksharing loops of \p function, which runs as
/// those of \p regions that have it as their body.
void remarkCoarseLoops(llvm::Function &function,
                       llvm::ArrayRef<ParallelRegion> regions,
                       llvm::FunctionAnalysisManager &analyses,
                       RemarkPlaces &places);

} // namespace mpg

#endif // MPG_PASSES_COARSELOOP_H
