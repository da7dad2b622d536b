// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nest around a loop with stores past the caches:
//
//   isLarge = it writes more than the last cache holds
//   if it writes little: a copy of it, if it has no other loops
//   the nest
//   if (isLarge) sfence, where no other thread sees its memory before

#include "stream/StreamNest.h"
#include "base/ChangeLoops.h"
#include "stream/Stream.h"
#include "llvm/Analysis/DomTreeUpdater.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

/// A last cache, or the part of one for a thread of a team, is larger.
static constexpr uint64_t minCacheBytes = 1 << 20, minPartBytes = 64 << 10;

StreamNest::StreamNest(Loop &loop, const StreamLoop &known,
                       FunctionAnalysisManager &analyses, bool isAlways)
    : FrontLoop(loop, known, analyses, "mpg.stream"),
      loops(analyses.getResult<LoopAnalysis>(function)),
      dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
      isAlways(isAlways) {}

uint64_t StreamNest::minBytes() const {
  return isRegionBody(function) ? minPartBytes : minCacheBytes;
}

/// Whether \p bytes are more than this thread's part of the last cache.
Value *StreamNest::exceedsCache(Value *bytes, Instruction &place) {
  Module &module = *function.getParent();
  IRBuilder<> builder(&place);
  Value *limit = builder.CreateLoad(number, getLastCache(module));
  if (isRegionBody(function)) {
    Value *threads = builder.CreateCall(module.getOrInsertFunction(
        "omp_get_num_threads", builder.getInt32Ty()));
    limit = builder.CreateUDiv(limit, builder.CreateZExt(threads, number));
  }
  return builder.CreateICmpSGT(bytes, limit);
}

// Where L1 is full of the nest's arrays, the line with the cache's size would
// displace one of them.
Value *StreamNest::decide(const Decision &decision, Instruction *&end) {
  if (isAlways)
    return ConstantInt::getTrue(function.getContext());
  Value *all = expander.expandCodeFor(decision.bytes, number, decision.place);
  IRBuilder<> builder(decision.place);
  Value *isMuch = builder.CreateICmpSGT(all, builder.getInt64(minBytes()));
  if (Loop *copied = findCopied(*decision.place)) {
    // Streaming costs each row of the nest time and registers.
    copyLoop(*copied, *isMuch, ".cached", loops, dominators, scev)
        .setMetadata(
            LLVMContext::MD_prof,
            MDBuilder(function.getContext()).createUnlikelyBranchWeights());
    return exceedsCache(all, *decision.place);
  }
  BasicBlock *front = decision.place->getParent();
  DomTreeUpdater updater(dominators, DomTreeUpdater::UpdateStrategy::Eager);
  Instruction *asked = SplitBlockAndInsertIfThen(
      isMuch, decision.place->getIterator(), /*Unreachable=*/false,
      MDBuilder(function.getContext()).createUnlikelyBranchWeights(), &updater,
      &loops);
  Value *isMore = exceedsCache(all, *asked);
  if (decision.place == end) {
    end = asked;
    return isMore;
  }
  PHINode *isLarge = PHINode::Create(builder.getInt1Ty(), 2, "",
                                     decision.place->getParent()->begin());
  isLarge->addIncoming(builder.getFalse(), front);
  isLarge->addIncoming(isMore, asked->getParent());
  return isLarge;
}

/// Whether \p instruction lets no other thread learn of written memory, and no
/// exception leave the function.
static bool isQuiet(const Instruction &instruction) {
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
    if (call->isAssumeLikeIntrinsic())
      return true;
  return !instruction.isAtomic() && !instruction.isVolatile() &&
         !(isa<CallBase>(instruction) &&
           (instruction.mayReadOrWriteMemory() || instruction.mayThrow()));
}

/// Whether a fence can wait until \p outer is left.
static bool canFenceBehind(const Loop &outer) {
  return canCopy(outer) && // no jump to a computed address leaves it
         llvm::all_of(outer.blocks(), [](const BasicBlock *block) {
           return llvm::all_of(*block, isQuiet);
         });
}

Loop *StreamNest::findNest(const Instruction &place) const {
  Loop *nest = nullptr;
  if (loop.getLoopPreheader() == place.getParent())
    return nullptr;
  for (Loop *outer = loop.getParentLoop(); outer && canFenceBehind(*outer);
       outer = outer->getParentLoop()) {
    nest = outer;
    if (outer->getLoopPreheader() == place.getParent())
      break;
  }
  return nest;
}

/// Whether \p nest has other loops in it than \p inner and its remainder.
static bool hasOthers(const Loop &nest, const Loop &inner) {
  return llvm::any_of(nest, [&](const Loop *one) {
    return one != &inner && !isRemainder(*one);
  });
}

/// The loop behind \p place, if it has no others than ours in it. Null: it has,
/// or is ours, or cannot be copied.
Loop *StreamNest::findCopied(const Instruction &place) const {
  Loop *nest = &loop;
  while (nest->getLoopPreheader() != place.getParent()) {
    Loop *outer = nest->getParentLoop();
    if (!outer || hasOthers(*outer, *nest))
      return nullptr;
    nest = outer;
  }
  return nest == &loop || !canCopy(*nest) ? nullptr : nest;
}

void mpg::addStoreFence(IRBuilderBase &builder) {
  builder.CreateIntrinsic(Intrinsic::x86_sse_sfence, ArrayRef<Type *>(),
                          ArrayRef<Value *>());
}

void StreamNest::addFences(const Loop &nest, Value &isLarge) {
  for (BasicBlock *exit : makeOwnExits(nest, ".fence")) {
    BasicBlock::iterator place = exit->getFirstInsertionPt();
    IRBuilder<> builder(isa<Constant>(isLarge)
                            ? &*place
                            : SplitBlockAndInsertIfThen(&isLarge, place,
                                                        /*Unreachable=*/false));
    addStoreFence(builder);
  }
}
