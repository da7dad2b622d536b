// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InnermostLoops.h.

#include "base/InnermostLoops.h"
#include "base/Access.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

SmallVector<BasicBlock *, 8>
mpg::findInnermostLoops(Function &function, FunctionAnalysisManager &analyses) {
  SmallVector<BasicBlock *, 8> headers;
  for (Loop *loop :
       analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder())
    if (loop->isInnermost())
      headers.push_back(loop->getHeader());
  return headers;
}

static bool isRemainder(const Loop &loop, const BasicBlock &front) {
  if (!getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized"))
    return false;
  return llvm::none_of(loop.getHeader()->phis(), [&](const PHINode &phi) {
    auto *begin = dyn_cast<ConstantInt>(phi.getIncomingValueForBlock(&front));
    return begin && begin->isZero();
  });
}

Loop *mpg::prepareLoop(BasicBlock &header, FunctionAnalysisManager &analyses) {
  Function &function = *header.getParent();
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  Loop *loop = loops.getLoopFor(&header);
  if (!loop->getLoopPreheader())
    InsertPreheaderForLoop(loop,
                           &analyses.getResult<DominatorTreeAnalysis>(function),
                           &loops, nullptr, /*PreserveLCSSA=*/false);
  BasicBlock *front = loop->getLoopPreheader();
  return front && !isRemainder(*loop, *front) ? loop : nullptr;
}

const char *mpg::whyUnchanged(const Function &function) {
  if (const char *reason = whyUntagged(function))
    return reason;
  return function.hasOptSize() ? "it is optimised for size" : nullptr;
}
