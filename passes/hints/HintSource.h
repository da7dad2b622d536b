// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First stage, at the start of the pipeline, while the code still looks like
// the source: reads all hints (annotations, pragmas, side files), erases what
// would be in the optimiser's way, and marks the accesses that they mean.

#ifndef MPG_PASSES_HINTSOURCE_H
#define MPG_PASSES_HINTSOURCE_H

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

} // namespace mpg

#endif // MPG_PASSES_HINTSOURCE_H
