// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass, and its remarks. See Prefetch.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/InnermostLoops.h"
#include "prefetch/Prefetch.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

static std::unique_ptr<DiagnosticInfoOptimizationBase>
makeRemark(const PrefetchVerdict &verdict, const DebugLoc &place,
           const BasicBlock *header) {
  if (verdict.reason) {
    auto missed = std::make_unique<OptimizationRemarkMissed>(
        remarkPass, "PrefetchSkipped", place, header);
    *missed << "this loop gets no prefetches: "
            << ore::NV("Reason", verdict.reason);
    return missed;
  }
  auto remark = std::make_unique<OptimizationRemark>(
      remarkPass, "PrefetchInserted", place, header);
  if (verdict.ahead) {
    *remark << "prefetches " << ore::NV("Lookups", verdict.streams)
            << (verdict.streams == 1 ? " lookup by an index, "
                                     : " lookups by an index, ")
            << ore::NV("Iterations", verdict.ahead) << " iterations ahead";
    return remark;
  }
  *remark << "prefetches " << ore::NV("Streams", verdict.streams)
          << (verdict.streams == 1 ? " stream" : " streams");
  if (verdict.lines.l1)
    *remark << ", " << ore::NV("L1Lines", verdict.lines.l1)
            << " lines ahead into L1";
  if (verdict.lines.l2)
    *remark << ", " << ore::NV("L2Lines", verdict.lines.l2)
            << " lines ahead into L2";
  return remark;
}

static LoopOutcome visitLoop(Loop &loop, const DebugLoc &place,
                             FunctionAnalysisManager &analyses,
                             const PassOptions &options, bool hasLines) {
  BasicBlock *header = loop.getHeader();
  auto asked = getOptionalIntLoopAttribute(&loop, prefetchMark);
  auto l1 = getOptionalIntLoopAttribute(&loop, prefetchL1Mark);
  auto l2 = getOptionalIntLoopAttribute(&loop, prefetchL2Mark);
  auto own = getOptionalIntLoopAttribute(&loop, indirectMark);
  auto ahead = unsigned(own.value_or(int(options.prefetchIndirect)));
  bool walks = hasLines && getsPrefetches(loop, options);
  if (!walks && !ahead)
    return {};
  PrefetchLines lines = {unsigned(l1.value_or(int(options.prefetchLines.l1))),
                         unsigned(l2.value_or(int(options.prefetchLines.l2)))};
  PrefetchVerdict verdict;
  verdict.reason = asked && !*asked ? "the source forbids it (noprefetch)"
                                    : whyUnchanged(*header->getParent());
  bool isForbidden = verdict.reason;
  bool isZeroed = getZeroedRound(loop);
  if (!isForbidden && ahead && isZeroed)
    verdict.reason = "its lines are zeroed ahead";
  else if (!isForbidden && ahead)
    verdict = writeIndirectPrefetches(loop, ahead, own.has_value(), analyses);
  if (!isForbidden && walks && (verdict.reason || !verdict.streams))
    verdict = writePrefetches(loop, lines, analyses);
  if (!verdict.reason && !verdict.streams)
    return {};
  return {!verdict.reason, makeRemark(verdict, place, header)};
}

PreservedAnalyses PrefetchPass::run(Module &module,
                                    ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  bool isIndirect =
      options.prefetchIndirect || module.getNamedMetadata(indirectMark);
  if ((options.prefetch == Prefetch::off && !isIndirect) ||
      !isLastStage(module, stage))
    return PreservedAnalyses::all();
  bool hasLines = targetHasTags(module) || options.sim != Simulation::off;
  if (!hasLines && !isIndirect) {
    warn(module.getContext(), {},
         "prefetch has no effect: it is for AArch64 Linux only");
    return PreservedAnalyses::all();
  }
  return changeInnermostLoops(module, analyses, options, "Prefetch",
                              [&](Loop &loop, const DebugLoc &place,
                                  FunctionAnalysisManager &functions) {
                                return visitLoop(loop, place, functions,
                                                 options, hasLines);
                              });
}
