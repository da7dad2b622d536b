// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts mpg_sector_begin and mpg_sector_end around code that asks for ways of
// the caches. The calls are weak and behind a null test, so the program links
// and runs without libmpg.

#ifndef MPG_PASSES_SECTORWAYS_H
#define MPG_PASSES_SECTORWAYS_H

#include "hints/HintText.h"

namespace mpg {

/// Brackets the code of each request: a function from its entry to each way
/// out, a region from its begin to its ends and to returns between. Parallel
/// regions of OpenMP that start in it are bracketed as well, since each core
/// has its own L1 cache. Code that leaves by an exception without a handler
/// here ends no ways; the end of an outer bracket does. Returns whether
/// \p module changed.
bool bracketWays(llvm::Module &module, const HintRequests &requests);

} // namespace mpg

#endif // MPG_PASSES_SECTORWAYS_H
