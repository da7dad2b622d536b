// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All innermost loops of a module, and a remark for each. See Prefetch.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/InnermostLoops.h"
#include "prefetch/Prefetch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

namespace {
struct Outcome {
  DebugLoc place;
  BasicBlock *header;
  PrefetchVerdict verdict;
};
} // namespace

static void emitRemark(const Outcome &outcome) {
  OptimizationRemarkEmitter emitter(outcome.header->getParent());
  const PrefetchVerdict &verdict = outcome.verdict;
  if (verdict.reason) {
    emitter.emit(OptimizationRemarkMissed(remarkPass, "PrefetchSkipped",
                                          outcome.place, outcome.header)
                 << "this loop gets no prefetches: "
                 << ore::NV("Reason", verdict.reason));
    return;
  }
  OptimizationRemark remark(remarkPass, "PrefetchInserted", outcome.place,
                            outcome.header);
  remark << "prefetches " << ore::NV("Streams", verdict.streams)
         << (verdict.streams == 1 ? " stream" : " streams");
  if (verdict.lines.l1)
    remark << ", " << ore::NV("L1Lines", verdict.lines.l1)
           << " lines ahead into L1";
  if (verdict.lines.l2)
    remark << ", " << ore::NV("L2Lines", verdict.lines.l2)
           << " lines ahead into L2";
  emitter.emit(remark);
}

static void visitLoop(BasicBlock &header, FunctionAnalysisManager &analyses,
                      const PassOptions &options,
                      SmallVectorImpl<Outcome> &outcomes) {
  Function &function = *header.getParent();
  Loop *loop = prepareLoop(header, analyses);
  if (!loop)
    return;
  auto asked = getOptionalIntLoopAttribute(loop, prefetchMark);
  auto l1 = getOptionalIntLoopAttribute(loop, prefetchL1Mark);
  auto l2 = getOptionalIntLoopAttribute(loop, prefetchL2Mark);
  if (options.prefetch != Prefetch::far && !asked && !l1 && !l2)
    return;
  PrefetchLines lines = {unsigned(l1.value_or(int(options.prefetchLines.l1))),
                         unsigned(l2.value_or(int(options.prefetchLines.l2)))};
  Outcome outcome = {userLocation(loop->getStartLoc()), &header, {}};
  outcome.verdict.reason = asked && !*asked
                               ? "the source forbids it (noprefetch)"
                               : whyUnchanged(function);
  if (!outcome.verdict.reason)
    outcome.verdict = writePrefetches(*loop, lines, analyses);
  if (!outcome.verdict.reason && outcome.verdict.streams)
    analyses.invalidate(function, PreservedAnalyses::none());
  if (outcome.verdict.reason || outcome.verdict.streams)
    outcomes.push_back(outcome);
}

static void visitFunction(Function &function, FunctionAnalysisManager &analyses,
                          const PassOptions &options, RemarkPlaces &said) {
  SmallVector<Outcome, 8> outcomes;
  for (BasicBlock *header : findInnermostLoops(function, analyses))
    visitLoop(*header, analyses, options, outcomes);
  if (options.verify && verifyFunction(function, &errs()))
    report_fatal_error("mpgtools' passes made code that is not valid in " +
                       Twine(function.getName()) + "; please report this");
  // A loop of the source may have become several: one that prefetches speaks
  // first.
  for (bool isDone : {true, false})
    for (const Outcome &outcome : outcomes)
      if (isDone == !outcome.verdict.reason &&
          said.isNew("Prefetch", outcome.place, *outcome.header))
        emitRemark(outcome);
}

PreservedAnalyses PrefetchPass::run(Module &module,
                                    ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (options.prefetch == Prefetch::off || !isLastStage(module, stage))
    return PreservedAnalyses::all();
  if (!targetHasTags(module) && options.sim == Simulation::off) {
    warn(module.getContext(), {},
         "prefetch has no effect: it is for AArch64 Linux only");
    return PreservedAnalyses::all();
  }
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  RemarkPlaces said;
  for (Function &function : module)
    if (!function.isDeclaration())
      visitFunction(function, functions, options, said);
  return PreservedAnalyses::none();
}
