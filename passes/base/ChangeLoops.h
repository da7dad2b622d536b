// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of passes that change loops after all optimisations.

#ifndef MPG_PASSES_CHANGELOOPS_H
#define MPG_PASSES_CHANGELOOPS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/PassManager.h"
#include <memory>

namespace llvm {
class BasicBlock;
class Function;
class Loop;
class Module;
} // namespace llvm

namespace mpg {

struct PassOptions;

/// The result of a pass for one loop.
struct LoopOutcome {
  bool isChanged = false; ///< all analyses of the function are stale
  std::unique_ptr<llvm::DiagnosticInfoOptimizationBase> remark; ///< null: none
};

/// Gets a loop with a preheader, and its place in the source for the remark.
using LoopVisitor = llvm::function_ref<LoopOutcome(
    llvm::Loop &loop, const llvm::DebugLoc &place,
    llvm::FunctionAnalysisManager &analyses)>;

/// Calls \p visit for the innermost loops of \p module, and before them for
/// those around if \p isOuterToo. It leaves out loops that do the few
/// iterations that a vectorised one has left. Then emits a remark for each loop
/// of the source, by \p subject: it may have become several, and one that was
/// changed speaks for them. \returns what holds afterwards: all, if nothing was
/// changed.
llvm::PreservedAnalyses changeLoops(llvm::Module &module,
                                    llvm::ModuleAnalysisManager &analyses,
                                    const PassOptions &options,
                                    llvm::StringRef subject, LoopVisitor visit,
                                    bool isOuterToo = false);

/// Whether \p loop does the few iterations that a vectorised one has left.
bool isRemainder(const llvm::Loop &loop);

/// The blocks behind \p loop, which no jump to a computed address leaves. Each
/// is reached from the loop alone: \p suffix names those that are new.
/// Dominators and loops of the function are stale then.
llvm::SmallVector<llvm::BasicBlock *, 4> makeOwnExits(const llvm::Loop &loop,
                                                      const char *suffix);

/// Whether the option, or a directive for \p loop, asks for prefetches of what
/// it walks through.
bool getsPrefetches(const llvm::Loop &loop, const PassOptions &options);

/// Why no loop of \p function is changed; null: they may be.
const char *whyUnchanged(const llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_CHANGELOOPS_H
