// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two passes, and their remarks. See Stream.h.

#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/Diagnostics.h"
#include "base/PassOptions.h"
#include "base/Scev.h"
#include "base/StoreStreams.h"
#include "stream/Stream.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;
using namespace mpg;

/// Of the non-temporal stores of vectors, which must be aligned to their size
/// (emmintrin.h of clang 22; Intel SDM, MOVNTPD: read).
static constexpr uint64_t minVectorBytes = 16, maxVectorBytes = 64;
static constexpr int64_t lineBytes = 64;
/// Of prefetches.
static constexpr int64_t aheadBytes = 512;

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
  return changeLoops(module, analyses, options, "Stream",
                     [&](Loop &loop, const DebugLoc &place,
                         FunctionAnalysisManager &functions) {
                       return divideLoop(loop, place, functions, options);
                     });
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

/// Whether \p reads, of another iteration as well, have the line at \p one.
static bool isAmong(ArrayRef<const SCEV *> reads, const SCEVAddRecExpr &one,
                    int64_t step, ScalarEvolution &scev) {
  return any_of(reads, [&](const SCEV *other) {
    std::optional<int64_t> way = smallConstant(scev.getMinusSCEV(&one, other));
    if (!way)
      return false;
    int64_t rest = std::abs(*way) % step;
    return std::min(rest, step - rest) < lineBytes;
  });
}

/// One prefetch for each line of each upwards stream that \p loop reads. With
/// them a stencil of 512 MiB is a tenth faster, by one thread and by two.
static void prefetchReads(Loop &loop, ScalarEvolution &scev) {
  SmallVector<const SCEV *, 8> reads;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      auto *load = dyn_cast<LoadInst>(&instruction);
      Value *address = load ? load->getPointerOperand() : nullptr;
      auto *line = dyn_cast_or_null<SCEVAddRecExpr>(load ? scev.getSCEV(address)
                                                         : nullptr);
      if (!line || line->getLoop() != &loop)
        continue;
      std::optional<int64_t> step =
          smallConstant(line->getStepRecurrence(scev));
      if (!step || *step <= 0 || isAmong(reads, *line, *step, scev))
        continue;
      reads.push_back(line);
      IRBuilder<> builder(load);
      Value *ahead =
          builder.CreatePtrAdd(address, builder.getInt64(aheadBytes));
      builder.CreateIntrinsic(Intrinsic::prefetch, {address->getType()},
                              {ahead, builder.getInt32(0), builder.getInt32(3),
                               builder.getInt32(1)});
    }
}

static LoopOutcome streamStores(Loop &loop, const DebugLoc &place,
                                FunctionAnalysisManager &analyses) {
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
  prefetchReads(
      loop, analyses.getResult<ScalarEvolutionAnalysis>(*header->getParent()));
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
  return changeLoops(module, analyses, options, "Stream",
                     [](Loop &loop, const DebugLoc &place,
                        FunctionAnalysisManager &functions) {
                       return streamStores(loop, place, functions);
                     });
}
