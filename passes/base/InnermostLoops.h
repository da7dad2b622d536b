// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of passes that change innermost loops after all optimisations.

#ifndef MPG_PASSES_INNERMOSTLOOPS_H
#define MPG_PASSES_INNERMOSTLOOPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class BasicBlock;
class Function;
class Loop;
} // namespace llvm

namespace mpg {

/// The headers of the innermost loops of \p function, which stay the same while
/// loops are changed.
llvm::SmallVector<llvm::BasicBlock *, 8>
findInnermostLoops(llvm::Function &function,
                   llvm::FunctionAnalysisManager &analyses);

/// The loop that begins with \p header, with a preheader. Null: it can have
/// none, or it does the few iterations that the vectorised one has left.
llvm::Loop *prepareLoop(llvm::BasicBlock &header,
                        llvm::FunctionAnalysisManager &analyses);

/// Why no loop of \p function is changed; null: they may be.
const char *whyUnchanged(const llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_INNERMOSTLOOPS_H
