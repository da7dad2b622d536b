// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of passes that change loops after all optimisations.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/PassManager.h"
#include <memory>

namespace mpg {

struct PassOptions;

/// The result of a pass for one loop.
struct LoopOutcome {
  bool isChanged = false; ///< all analyses of the function are stale
  std::unique_ptr<DiagnosticInfoOptimizationBase> remark; ///< null: none
};

/// Gets a loop with a preheader, and its place in the source for the remark.
using LoopVisitor = function_ref<LoopOutcome(
    Loop &loop, const DebugLoc &place, FunctionAnalysisManager &analyses)>;

/// Calls \p visit for the innermost loops of \p module, and before them for
/// those around if \p isOuterToo. It leaves out loops that do the few
/// iterations that a vectorised one has left. Then emits a remark for each loop
/// of the source, by \p subject: it may have become several, and one that was
/// changed speaks for them. \returns what holds afterwards: all, if nothing was
/// changed.
PreservedAnalyses changeLoops(Module &module, ModuleAnalysisManager &analyses,
                              const PassOptions &options, StringRef subject,
                              LoopVisitor visit, bool isOuterToo = false);

/// Whether \p loop does the few iterations that a vectorised one has left.
bool isRemainder(const Loop &loop);

/// The blocks behind \p loop, which no jump to a computed address leaves. Each
/// is reached from the loop alone: \p suffix names those that are new.
/// Dominators and loops of the function are stale then.
SmallVector<BasicBlock *, 4> makeOwnExits(const Loop &loop, const char *suffix);

/// Whether \p loop can be copied: no jump in it has a computed address, and
/// nothing that it computes must stay alone.
bool canCopy(const Loop &loop);

/// Puts a copy of \p loop, which has a preheader and can be copied, beside it:
/// it runs unless \p condition. \p suffix names its blocks. \returns the
/// branch.
Instruction &copyLoop(Loop &loop, Value &condition, const char *suffix,
                      LoopInfo &loops, DominatorTree &dominators,
                      ScalarEvolution &scev);

/// Whether the option, or a directive for \p loop, asks for prefetches of what
/// it walks through.
bool getsPrefetches(const Loop &loop, const PassOptions &options);

/// Why no loop of \p function is changed; null: they may be.
const char *whyUnchanged(const Function &function);

} // namespace mpg
