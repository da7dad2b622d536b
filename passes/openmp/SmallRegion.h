// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parallel regions that cost more than they save: those with hardly any work,
// and those that a library's function starts when it is called from a region.
//
// Not told: regions with an if clause or num_threads, whose author has thought
// of it, and work that is not known at compile time.

#ifndef MPG_PASSES_SMALLREGION_H
#define MPG_PASSES_SMALLREGION_H

#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// Emits SmallParallelRegion for those of \p regions with little work.
void remarkSmallRegions(llvm::ArrayRef<ParallelRegion> regions,
                        llvm::FunctionAnalysisManager &analyses,
                        RemarkPlaces &places);

/// Emits SmallParallelRegion for those of \p regions, all of \p module, that
/// functions for use by others start inside of another region.
void remarkNestedRegions(llvm::Module &module,
                         llvm::ArrayRef<ParallelRegion> regions,
                         RemarkPlaces &places);

} // namespace mpg

#endif // MPG_PASSES_SMALLREGION_H
