// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass, and its remarks. See Prefetch.h.

#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/Diagnostics.h"
#include "prefetch/Prefetch.h"
#include "tags/TagWriter.h"
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
  auto add = [&](StringRef before, StringRef key, unsigned count,
                 StringRef word, StringRef after) {
    *remark << before << ore::NV(key, count) << word << (count == 1 ? "" : "s")
            << after;
  };
  if (!verdict.ahead) {
    add("prefetches ", "Streams", verdict.streams, " stream", "");
    if (verdict.lines.l1)
      add(", ", "L1Lines", verdict.lines.l1, " line", " ahead into L1");
    if (verdict.lines.l2)
      add(", ", "L2Lines", verdict.lines.l2, " line", " ahead into L2");
    return remark;
  }
  StringRef before = "prefetches ";
  if (verdict.streams) {
    add(before, "Lookups", verdict.streams, " lookup", " by an index");
    add(", ", "Iterations", verdict.ahead, " iteration", " ahead");
    before = "; ";
  }
  if (verdict.rows) {
    add(before, "Rows", verdict.rows, " row", "");
    add(", ", "RowIterations", verdict.rowsAhead, " iteration", " ahead");
  }
  if (verdict.elementsAhead)
    add("; what its elements look up, ", "ElementIterations",
        verdict.elementsAhead, " iteration", " ahead");
  return remark;
}

static LoopOutcome makeOutcome(const PrefetchVerdict &verdict,
                               const DebugLoc &place,
                               const BasicBlock *header) {
  if (!verdict.reason && !verdict.streams && !verdict.rows)
    return {};
  return {!verdict.reason, makeRemark(verdict, place, header)};
}

/// Iterations ahead of lookups, by the loop's own directive or the options.
static unsigned getAhead(const Loop &loop, const PassOptions &options) {
  auto own = getOptionalIntLoopAttribute(&loop, indirectMark);
  return unsigned(own.value_or(int(options.prefetchIndirect)));
}

static IndirectUse getUse(const Loop &loop, const PassOptions &options) {
  return getOptionalIntLoopAttribute(&loop, indirectMark) ? IndirectUse::asked
         : options.largeAlways                            ? IndirectUse::always
                                                          : IndirectUse::far;
}

/// Why neither kind of prefetch is put into \p loop. Null: they may be.
static const char *whyForbidden(const Loop &loop) {
  auto asked = getOptionalIntLoopAttribute(&loop, prefetchMark);
  return asked && !*asked ? "the source forbids it (noprefetch)"
                          : whyUnchanged(*loop.getHeader()->getParent());
}

static LoopOutcome visitOuterLoop(Loop &loop, const DebugLoc &place,
                                  FunctionAnalysisManager &analyses,
                                  const PassOptions &options) {
  BasicBlock *header = loop.getHeader();
  unsigned ahead = getAhead(loop, options);
  if (!ahead || whyForbidden(loop))
    return {};
  return makeOutcome(
      writeListPrefetches(loop, ahead, getUse(loop, options), analyses), place,
      header);
}

static LoopOutcome visitInnermostLoop(Loop &loop, const DebugLoc &place,
                                      FunctionAnalysisManager &analyses,
                                      const PassOptions &options,
                                      bool hasLines) {
  BasicBlock *header = loop.getHeader();
  auto l1 = getOptionalIntLoopAttribute(&loop, prefetchL1Mark);
  auto l2 = getOptionalIntLoopAttribute(&loop, prefetchL2Mark);
  unsigned ahead = getAhead(loop, options);
  bool walks = hasLines && getsPrefetches(loop, options);
  if (!walks && !ahead)
    return {};
  PrefetchLines lines = {unsigned(l1.value_or(int(options.prefetchLines.l1))),
                         unsigned(l2.value_or(int(options.prefetchLines.l2)))};
  PrefetchVerdict verdict;
  verdict.reason = whyForbidden(loop);
  bool isForbidden = verdict.reason;
  if (!isForbidden && ahead)
    verdict =
        writeIndirectPrefetches(loop, ahead, getUse(loop, options), analyses);
  if (!isForbidden && walks && (verdict.reason || !verdict.streams))
    verdict = writePrefetches(loop, lines, analyses);
  return makeOutcome(verdict, place, header);
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
  if (!hasLines && (options.prefetch == Prefetch::far || !isIndirect))
    remarkNoEffect(module, isIndirect ? "prefetch=far" : "prefetch",
                   "it is for AArch64 Linux only");
  if (!hasLines && !isIndirect)
    return PreservedAnalyses::all();
  auto visit = [&](Loop &loop, const DebugLoc &place,
                   FunctionAnalysisManager &functions) {
    return loop.isInnermost()
               ? visitInnermostLoop(loop, place, functions, options, hasLines)
               : visitOuterLoop(loop, place, functions, options);
  };
  return changeLoops(module, analyses, options, "Prefetch", visit,
                     /*isOuterToo=*/isIndirect);
}
