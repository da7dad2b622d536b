// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First stage, at the start of the pipeline, while the code still looks like
// the source: reads all hints (annotations, pragmas, side files), erases what
// would be in the optimiser's way, marks the accesses that they mean, and sets
// ways.

#ifndef MPG_PASSES_HINTSOURCE_H
#define MPG_PASSES_HINTSOURCE_H

#include "hints/HintText.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

class HintSourcePass : public llvm::PassInfoMixin<HintSourcePass> {
public:
  /// \p optimised: false at -O0, where hints are read but not used.
  explicit HintSourcePass(bool optimised) : optimised(optimised) {}
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }

private:
  bool optimised;
};

//===----------------------------------------------------------------------===//
// Ways of the caches (SectorWays.cpp)
//===----------------------------------------------------------------------===//
//
// Calls of mpg_sector_begin and mpg_sector_end around code that asks for ways.
// The calls are weak and behind a null test, so the program links and runs
// without libmpg.

/// Brackets the code of each request: a function from its entry to each way
/// out, a region from its begin to its ends and to returns between. Parallel
/// regions of OpenMP that start in it are bracketed as well, since each core
/// has its own L1 cache. Code that leaves by an exception without a handler
/// here ends no ways; the end of an outer bracket does. Returns whether
/// \p module changed.
bool bracketWays(llvm::Module &module, const HintRequests &requests);

} // namespace mpg

#endif // MPG_PASSES_HINTSOURCE_H
