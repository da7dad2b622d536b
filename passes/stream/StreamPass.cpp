// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass, and its remarks. See Stream.h.

#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/Diagnostics.h"
#include "base/PassOptions.h"
#include "base/StoreStreams.h"
#include "stream/Stream.h"
#include "tags/TagWriter.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

static const char *whyNoStreams(const Function &function) {
  if (function.hasFnAttribute(Attribute::NoImplicitFloat))
    return "it is compiled without vector registers";
  return whyUnchanged(function);
}

static std::unique_ptr<DiagnosticInfoOptimizationBase>
makeRemark(const char *reason, const DebugLoc &place,
           const BasicBlock *header) {
  if (reason) {
    auto missed = std::make_unique<OptimizationRemarkMissed>(
        remarkPass, "StreamSkipped", place, header);
    *missed << "this loop's stores go through the caches: "
            << ore::NV("Reason", reason);
    return missed;
  }
  auto remark = std::make_unique<OptimizationRemark>(
      remarkPass, "StreamInserted", place, header);
  *remark << "stores past the caches if its nest writes more than the last of "
             "them holds";
  return remark;
}

static LoopOutcome streamStores(Loop &loop, const DebugLoc &place,
                                FunctionAnalysisManager &analyses,
                                const PassOptions &options) {
  BasicBlock *header = loop.getHeader();
  // For other loops there are only reasons.
  if (!getBooleanLoopAttribute(&loop, "llvm.loop.isvectorized") &&
      !OptimizationRemarkEmitter::allowExtraAnalysis(*header->getParent(),
                                                     remarkPass))
    return {};
  StreamLoop found =
      findStoreStreams(loop, analyses, options, StreamUse::unread);
  if (found.streams.empty() && !found.reason)
    return {};
  const char *reason = whyNoStreams(*header->getParent());
  if (!reason)
    reason = found.reason;
  if (!reason)
    reason = writeStreamLoop(loop, found, analyses, options);
  return {!reason, makeRemark(reason, place, header)};
}

PreservedAnalyses StreamStoresPass::run(Module &module,
                                        ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (!options.streamStores || !isLastStage(module, stage))
    return PreservedAnalyses::all();
  if (!isLinux64(module) ||
      Triple(module.getTargetTriple()).getArch() != Triple::x86_64) {
    remarkNoEffect(module, "stream-stores", "it is for x86-64 Linux only");
    return PreservedAnalyses::all();
  }
  return changeLoops(module, analyses, options, "Stream",
                     [&](Loop &loop, const DebugLoc &place,
                         FunctionAnalysisManager &functions) {
                       return streamStores(loop, place, functions, options);
                     });
}
