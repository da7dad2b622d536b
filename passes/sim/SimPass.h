// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --mpg-sim: the program reports its accesses to mpgsim, and computes the same.
// Runs after all optimisations, so that the loops are those of the plain
// program; spills of the code generator to the stack are not seen.

#ifndef MPG_PASSES_SIMPASS_H
#define MPG_PASSES_SIMPASS_H

#include "tags/TagWriter.h"

namespace mpg {

class SimPass : public llvm::PassInfoMixin<SimPass> {
public:
  explicit SimPass(TagWriterPass::Stage stage) : stage(stage) {}
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
  static bool isRequired() { return true; }

private:
  TagWriterPass::Stage stage;
};

} // namespace mpg

#endif // MPG_PASSES_SIMPASS_H
