// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ChangeLoops.h.

#include "base/ChangeLoops.h"
#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/PassOptions.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <vector>

using namespace llvm;
using namespace mpg;

/// Headers stay the same while loops are changed.
static SmallVector<BasicBlock *, 8> findLoops(Function &function,
                                              FunctionAnalysisManager &analyses,
                                              bool isOuterToo) {
  SmallVector<BasicBlock *, 8> headers;
  for (Loop *loop :
       analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (isOuterToo || loop->isInnermost())
      headers.push_back(loop->getHeader());
  return headers;
}

/// The loop that begins with \p header, with a preheader. Null: it can have
/// none, or it does the few iterations that the vectorised one has left.
static Loop *prepareLoop(BasicBlock &header, FunctionAnalysisManager &analyses,
                         bool &isChanged) {
  Function &function = *header.getParent();
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  Loop *loop = loops.getLoopFor(&header);
  if (!loop->getLoopPreheader())
    isChanged |= InsertPreheaderForLoop(
                     loop, &analyses.getResult<DominatorTreeAnalysis>(function),
                     &loops, nullptr, /*PreserveLCSSA=*/false) != nullptr;
  return loop->getLoopPreheader() && !isRemainder(*loop) ? loop : nullptr;
}

namespace {
struct VisitedLoop {
  DebugLoc place;
  const BasicBlock *header;
  LoopOutcome outcome;
};
} // namespace

/// \returns whether it has changed.
static bool changeFunction(Function &function,
                           FunctionAnalysisManager &analyses,
                           const PassOptions &options, LoopVisitor visit,
                           std::vector<VisitedLoop> &visited, bool isOuterToo) {
  bool isChanged = false;
  for (BasicBlock *header : findLoops(function, analyses, isOuterToo)) {
    Loop *loop = prepareLoop(*header, analyses, isChanged);
    if (!loop)
      continue;
    DebugLoc place = userLocation(loop->getStartLoc());
    LoopOutcome outcome = visit(*loop, place, analyses);
    isChanged |= outcome.isChanged;
    if (outcome.isChanged)
      analyses.invalidate(function, PreservedAnalyses::none());
    if (outcome.isChanged || outcome.remark)
      visited.push_back({place, header, std::move(outcome)});
  }
  if (options.verify && verifyFunction(function, &errs()))
    report_fatal_error("mpgtools' passes made code that is not valid in " +
                       Twine(function.getName()) + "; please report this");
  return isChanged;
}

/// One remark for each place. A changed loop speaks for its copies, in other
/// functions too.
static void emitRemarks(ArrayRef<VisitedLoop> visited, StringRef subject) {
  RemarkPlaces changed, others;
  auto isFirst = [&](RemarkPlaces &places, const VisitedLoop &one) {
    return places.isNew(subject, one.place, *one.header);
  };
  for (const VisitedLoop &one : visited)
    if (one.outcome.isChanged)
      isFirst(others, one);
  for (const VisitedLoop &one : visited)
    if (isFirst(one.outcome.isChanged ? changed : others, one) &&
        one.outcome.remark)
      OptimizationRemarkEmitter(one.header->getParent())
          .emit(*one.outcome.remark);
}

PreservedAnalyses mpg::changeLoops(Module &module,
                                   ModuleAnalysisManager &analyses,
                                   const PassOptions &options,
                                   StringRef subject, LoopVisitor visit,
                                   bool isOuterToo) {
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  std::vector<VisitedLoop> visited;
  bool isChanged = false;
  for (Function &function : module)
    if (!function.isDeclaration())
      isChanged |= changeFunction(function, functions, options, visit, visited,
                                  isOuterToo);
  emitRemarks(visited, subject);
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

bool mpg::isRemainder(const Loop &loop) {
  const BasicBlock *front = loop.getLoopPredecessor();
  if (!front || !getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized"))
    return false;
  // It does not begin to count at 0, nor do the rounds around it.
  const Loop *parent = loop.getParentLoop();
  return llvm::none_of(loop.getHeader()->phis(), [&](const PHINode &phi) {
    const Value *begin = phi.getIncomingValueForBlock(front);
    auto *round = dyn_cast<PHINode>(begin);
    if (round && parent && parent->getHeader() == round->getParent() &&
        parent->getLoopPreheader())
      begin = round->getIncomingValueForBlock(parent->getLoopPreheader());
    auto *number = dyn_cast<ConstantInt>(begin);
    return number && number->isZero();
  });
}

SmallVector<BasicBlock *, 4> mpg::makeOwnExits(const Loop &loop,
                                               const char *suffix) {
  SmallVector<BasicBlock *, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (BasicBlock *&exit : exits) {
    SmallVector<BasicBlock *, 4> inside;
    for (BasicBlock *from : predecessors(exit))
      if (loop.contains(from))
        inside.push_back(from);
    if (inside.size() != size_t(pred_size(exit)))
      exit = SplitBlockPredecessors(exit, inside, suffix);
  }
  return exits;
}

bool mpg::getsPrefetches(const Loop &loop, const PassOptions &options) {
  return options.prefetch == Prefetch::far ||
         llvm::any_of(ArrayRef({prefetchMark, prefetchL1Mark, prefetchL2Mark}),
                      [&](const char *mark) {
                        return getOptionalIntLoopAttribute(&loop, mark);
                      });
}

const char *mpg::whyUnchanged(const Function &function) {
  if (const char *reason = whyUntagged(function))
    return reason;
  return function.hasOptSize() ? "it is optimised for size" : nullptr;
}
