// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass, and its remarks. See Zfill.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/InnermostLoops.h"
#include "zfill/Zfill.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

static std::unique_ptr<DiagnosticInfoOptimizationBase>
makeRemark(const char *reason, size_t streams, unsigned lines,
           const DebugLoc &place, const BasicBlock *header) {
  if (reason) {
    auto missed = std::make_unique<OptimizationRemarkMissed>(
        remarkPass, "ZfillSkipped", place, header);
    *missed << "no lines are zeroed ahead of this loop's stores: "
            << ore::NV("Reason", reason);
    return missed;
  }
  auto remark = std::make_unique<OptimizationRemark>(
      remarkPass, "ZfillInserted", place, header);
  *remark << "zeroes lines " << ore::NV("Lines", lines)
          << " ahead of the stores, of "
          << ore::NV("Streams", unsigned(streams))
          << (streams == 1 ? " stream" : " streams");
  return remark;
}

/// Changes \p loop, if that is possible.
static LoopOutcome visitLoop(Loop &loop, const DebugLoc &place,
                             FunctionAnalysisManager &analyses,
                             const PassOptions &options) {
  BasicBlock *header = loop.getHeader();
  PassOptions own = options;
  if (std::optional<int> lines = getOptionalIntLoopAttribute(&loop, zfillMark))
    own.zfill = unsigned(*lines);
  if (!own.zfill && !options.zfill)
    return {};
  StreamLoop found =
      findStoreStreams(loop, analyses, own, StreamUse::overwritten);
  if (found.streams.empty() && !found.reason)
    return {};
  const char *reason = own.zfill ? whyUnchanged(*header->getParent())
                                 : "the source forbids it (nozfill)";
  if (!reason)
    reason = found.reason;
  if (!reason)
    reason = writeZfillLoop(loop, found, analyses, own);
  unsigned lines = own.zfill == zfillAuto ? zfillDefaultLines : own.zfill;
  return {!reason,
          makeRemark(reason, found.streams.size(), lines, place, header)};
}

PreservedAnalyses ZfillPass::run(Module &module,
                                 ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if ((!options.zfill && !module.getNamedMetadata(zfillMark)) ||
      !isLastStage(module, stage))
    return PreservedAnalyses::all();
  if (!targetHasTags(module) && options.sim == Simulation::off) {
    warn(module.getContext(), {},
         "zfill has no effect: only AArch64 Linux has DC ZVA");
    return PreservedAnalyses::all();
  }
  changeInnermostLoops(module, analyses, options, "Zfill",
                       [&](Loop &loop, const DebugLoc &place,
                           FunctionAnalysisManager &functions) {
                         return visitLoop(loop, place, functions, options);
                       });
  return PreservedAnalyses::none();
}
