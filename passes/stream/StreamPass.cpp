// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two passes, and their remarks. See Stream.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/InnermostLoops.h"
#include "base/PassOptions.h"
#include "base/StoreStreams.h"
#include "stream/Stream.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

/// Of the non-temporal stores of vectors. HW:x86-non-temporal-vector
static constexpr uint64_t minVectorBytes = 16, maxVectorBytes = 64;

static std::unique_ptr<DiagnosticInfoOptimizationBase>
makeSkipped(const char *reason, const DebugLoc &place,
            const BasicBlock *header) {
  auto missed = std::make_unique<OptimizationRemarkMissed>(
      remarkPass, "StreamSkipped", place, header);
  *missed << "this loop's stores go through the caches: "
          << ore::NV("Reason", reason);
  return missed;
}

static const char *whyNoStreams(const Function &function) {
  if (function.hasFnAttribute(Attribute::NoImplicitFloat))
    return "it is compiled without vector registers";
  return whyUnchanged(function);
}

static LoopOutcome divideLoop(Loop &loop, const DebugLoc &place,
                              FunctionAnalysisManager &analyses,
                              const PassOptions &options) {
  BasicBlock *header = loop.getHeader();
  StreamLoop found =
      findStoreStreams(loop, analyses, options, StreamUse::unread);
  if (found.streams.empty() && !found.reason)
    return {};
  const char *reason = whyNoStreams(*header->getParent());
  if (!reason)
    reason = found.reason;
  if (!reason)
    reason = writeStreamLoop(loop, found, analyses, options);
  // The other remark comes when the vectoriser has decided.
  return {!reason, reason ? makeSkipped(reason, place, header) : nullptr};
}

PreservedAnalyses StreamLoopsPass::run(Module &module,
                                       ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (!options.streamStores)
    return PreservedAnalyses::all();
  if (!isLinux64(module) ||
      Triple(module.getTargetTriple()).getArch() != Triple::x86_64) {
    warn(module.getContext(), {},
         "stream-stores has no effect: it is for x86-64 Linux only");
    return PreservedAnalyses::all();
  }
  changeInnermostLoops(module, analyses, options, "Stream",
                       [&](Loop &loop, const DebugLoc &place,
                           FunctionAnalysisManager &functions) {
                         return divideLoop(loop, place, functions, options);
                       });
  return PreservedAnalyses::none();
}

static bool canStream(const StoreInst &store, const DataLayout &layout) {
  Type *type = store.getValueOperand()->getType();
  if (!isa<FixedVectorType>(type) || !store.isSimple() ||
      store.getPointerAddressSpace() != 0)
    return false;
  uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return bytes >= minVectorBytes && isPowerOf2_64(bytes) &&
         store.getAlign().value() >= std::min<uint64_t>(bytes, maxVectorBytes);
}

static LoopOutcome streamStores(Loop &loop, const DebugLoc &place) {
  if (!getBooleanLoopAttribute(&loop, streamMark))
    return {};
  BasicBlock *header = loop.getHeader();
  LLVMContext &context = header->getContext();
  auto *one =
      ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), 1));
  unsigned count = 0;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (auto *store = dyn_cast<StoreInst>(&instruction);
          store && canStream(*store, header->getDataLayout())) {
        store->setMetadata(LLVMContext::MD_nontemporal,
                           MDNode::get(context, one));
        ++count;
      }
  if (!count)
    return {false,
            makeSkipped("the compiler has not made aligned vectors of them",
                        place, header)};
  auto remark = std::make_unique<OptimizationRemark>(
      remarkPass, "StreamInserted", place, header);
  *remark << "stores past the caches if its nest writes more than the last of "
             "them holds";
  return {true, std::move(remark)};
}

PreservedAnalyses StreamStoresPass::run(Module &module,
                                        ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (!options.streamStores || !isLastStage(module, stage))
    return PreservedAnalyses::all();
  changeInnermostLoops(
      module, analyses, options, "Stream",
      [](Loop &loop, const DebugLoc &place, FunctionAnalysisManager &) {
        return streamStores(loop, place);
      });
  return PreservedAnalyses::none();
}
