// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what a loop looks up by an index, a[f(b[i])]:
//
//   isFar = last >= 2 * distance, and for i = 0 or i = last / 2
//           &a[f(b[i])] and &a[f(b[i + distance])] are 1 MiB apart
//   if (!isFar) a copy of the loop, if that is short
//   else in each iteration, or if isFar in each of a long one
//     later = min(i + distance, last)
//     prefetch &a[f(b[later])]
//
// So a table that a cache holds, and lookups that are near each other, cost no
// more than what is in front of the loop. All elements of b are such that the
// loop reads in any case, so that no load ahead can fault. An index that the
// loop changes until then only leads to a useless prefetch.

#include "base/Access.h"
#include "base/ChangeLoops.h"
#include "base/Hint.h"
#include "base/LoopRounds.h"
#include "base/Scev.h"
#include "prefetch/Lookup.h"
#include "prefetch/Prefetch.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace mpg;

namespace {
class IndirectWriter {
public:
  IndirectWriter(Loop &loop, unsigned distance, IndirectUse use,
                 FunctionAnalysisManager &analyses)
      : loop(loop),
        rounds(getZeroedRound(loop) ? loop.getParentLoop() : nullptr),
        function(*loop.getHeader()->getParent()), distance(distance), use(use),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        expander(makeExpander(scev, function, "mpg.indirect")),
        number(Type::getInt64Ty(function.getContext())) {}
  PrefetchVerdict run();

private:
  /// Maps each step to its value in another iteration.
  using Copies = DenseMap<const Value *, Value *>;
  /// An index that each iteration loads.
  struct Index {
    const SCEVAddRecExpr *address;
    uint64_t ahead = 0;     ///< iterations
    Value *start = nullptr; ///< its address in the first iteration
  };
  bool isInEach(const Instruction &step) const;
  const SCEVAddRecExpr *getIndexAddress(const LoadInst &load) const;
  bool findSteps(Value *value, SetVector<Instruction *> &steps) const;
  void addAccess(Instruction &access);
  bool isRow() const;
  uint64_t minRepeats() const;
  const char *whyNot() const;
  unsigned countUnrolled(const SCEVAddRecExpr &address) const;
  Value *copy(const Instruction &step, Value *iteration, const Copies &copies,
              IRBuilder<> &builder) const;
  Copies copyAll(Value *iteration, bool isLater, IRBuilder<> &builder) const;
  Value *areFar(Value *iteration, IRBuilder<> &builder) const;
  Value *isWorthwhile();

  Loop &loop;
  Loop *rounds; ///< of zero fill, around the loop; null: none
  Function &function;
  unsigned distance;
  IndirectUse use;
  ScalarEvolution &scev;
  LoopInfo &loops;
  DominatorTree &dominators;
  SCEVExpander expander;
  IntegerType *number;
  SmallVector<Lookup, 8> lookups;
  SetVector<Instruction *> allSteps;             ///< of all lookups, in order
  MapVector<const Instruction *, Index> indices; ///< those of the steps
  uint64_t longest = 0;  ///< iterations ahead, of all indices
  Value *last = nullptr; ///< number of the last iteration
};
} // namespace

/// Whether each iteration does \p step.
bool IndirectWriter::isInEach(const Instruction &step) const {
  return dominators.dominates(step.getParent(), loop.getLoopLatch());
}

/// Null: \p load is not one that each iteration does, in known steps.
const SCEVAddRecExpr *
IndirectWriter::getIndexAddress(const LoadInst &load) const {
  if (!load.isSimple() || !isInEach(load))
    return nullptr;
  auto *line = dyn_cast<SCEVAddRecExpr>(
      scev.getSCEV(const_cast<Value *>(load.getPointerOperand())));
  if (!line || line->getLoop() != &loop || !line->isAffine() ||
      !smallConstant(line->getStepRecurrence(scev)))
    return nullptr;
  return expander.isSafeToExpandAt(line->getStart(),
                                   loop.getLoopPreheader()->getTerminator())
             ? line
             : nullptr;
}

/// Adds what computes \p value from indices, the first one first. \returns
/// whether it can be done again some iterations earlier.
bool IndirectWriter::findSteps(Value *value,
                               SetVector<Instruction *> &steps) const {
  auto *step = dyn_cast<Instruction>(value);
  if (!step || !loop.contains(step) || steps.contains(step))
    return true;
  if (auto *load = dyn_cast<LoadInst>(step)) {
    steps.insert(step);
    return getIndexAddress(*load);
  }
  if (isa<PHINode>(step) || step->mayReadOrWriteMemory() ||
      !isSafeToSpeculativelyExecute(step) || steps.size() >= maxSteps ||
      (isFloating(*step) && !isInEach(*step)))
    return false;
  for (Value *operand : step->operands())
    if (!findSteps(operand, steps))
      return false;
  steps.insert(step);
  return true;
}

void IndirectWriter::addAccess(Instruction &access) {
  Value *address = getPrefetchable(access);
  if (!address || lookups.size() > maxLookups)
    return;
  const SCEV *place = scev.getSCEV(address);
  if (isa<SCEVAddRecExpr>(place) || scev.isLoopInvariant(place, &loop) ||
      joinNear(lookups, place, access, scev))
    return;
  SetVector<Instruction *> steps;
  if (!findSteps(address, steps) || llvm::none_of(steps, [](Instruction *step) {
        return isa<LoadInst>(step);
      }))
    return;
  lookups.push_back({&access, address, place, access.mayWriteToMemory()});
  allSteps.insert(steps.begin(), steps.end());
  for (const Instruction *step : steps)
    if (auto *load = dyn_cast<LoadInst>(step))
      indices[load] = {getIndexAddress(*load)};
}

/// Whether a loop around this one gives it other indices each time, as for the
/// rows of a sparse matrix. Most rows are shorter than a useful distance.
bool IndirectWriter::isRow() const {
  Loop *parent = (rounds ? rounds : &loop)->getParentLoop();
  return parent && llvm::any_of(indices, [&](const auto &index) {
           const SCEV *start = index.second.address->getStart();
           if (rounds)
             start = getFirstStart(start, *rounds, scev);
           return !scev.isLoopInvariant(start, parent);
         });
}

/// The back edge is taken less often in loops that are too short.
uint64_t IndirectWriter::minRepeats() const {
  return use == IndirectUse::asked ? longest : 2 * longest;
}

/// Why the loop may leave out one of its iterations, or is too short.
const char *IndirectWriter::whyNot() const {
  if (lookups.size() > maxLookups)
    return tooManyLookups;
  if (loop.getExitingBlock() != loop.getLoopLatch())
    return "it may end early";
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (!isGuaranteedToTransferExecutionToSuccessor(&instruction))
        return "it calls what may not return";
  // No loop to LLVM is a cycle that jumps enter at several places.
  LoopBlocksRPO blocks(&loop);
  blocks.perform(&loops);
  if (containsIrreducibleCFG<const BasicBlock *>(blocks, loops))
    return "an iteration may not end";
  const SCEV *repeats = scev.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(repeats) ||
      repeats->getType()->getIntegerBitWidth() > 64 ||
      !expander.isSafeToExpandAt(repeats,
                                 loop.getLoopPreheader()->getTerminator()))
    return "how often it runs is not known when it begins";
  if (use != IndirectUse::asked && isRow())
    return "its rows may be shorter than the distance";
  uint64_t times = scev.getSmallConstantMaxTripCount(&loop);
  return !rounds && times && times <= minRepeats() ? "it is too short"
                                                   : nullptr;
}

/// How many iterations of the source an iteration does, as unrolled.
unsigned IndirectWriter::countUnrolled(const SCEVAddRecExpr &address) const {
  unsigned count = 0;
  for (const auto &[load, index] : indices)
    if (index.address->getStepRecurrence(scev) ==
            address.getStepRecurrence(scev) &&
        scev.getPointerBase(index.address) == scev.getPointerBase(&address)) {
      auto *vector = dyn_cast<FixedVectorType>(load->getType());
      count += vector ? vector->getNumElements() : 1;
    }
  return count;
}

/// \p step as it is in \p iteration.
Value *IndirectWriter::copy(const Instruction &step, Value *iteration,
                            const Copies &copies, IRBuilder<> &builder) const {
  if (auto *load = dyn_cast<LoadInst>(&step)) {
    Index index = indices.lookup(load);
    int64_t bytes = *smallConstant(index.address->getStepRecurrence(scev));
    Value *address = builder.CreatePtrAdd(
        index.start,
        builder.CreateMul(iteration, ConstantInt::getSigned(number, bytes)));
    // Frozen: another thread may write the element meanwhile.
    return builder.CreateFreeze(
        builder.CreateAlignedLoad(load->getType(), address, load->getAlign()));
  }
  Instruction *copy = builder.Insert(copyStep(step));
  for (Use &operand : copy->operands())
    if (Value *other = copies.lookup(operand))
      operand.set(other);
  return copy;
}

/// All steps as they are in \p iteration, or so many later as is prefetched.
IndirectWriter::Copies IndirectWriter::copyAll(Value *iteration, bool isLater,
                                               IRBuilder<> &builder) const {
  Copies copies;
  DenseMap<uint64_t, Value *> later;
  for (Instruction *step : allSteps) {
    builder.SetCurrentDebugLocation(step->getDebugLoc());
    uint64_t ahead = isLater ? indices.lookup(step).ahead : 0;
    Value *&then = later[ahead];
    if (!then)
      then = ahead ? builder.CreateBinaryIntrinsic(
                         Intrinsic::umin,
                         builder.CreateAdd(iteration, builder.getInt64(ahead)),
                         last)
                   : iteration;
    copies[step] = copy(*step, then, copies, builder);
  }
  return copies;
}

/// Whether lookups of \p iteration are far from those that it prefetches.
Value *IndirectWriter::areFar(Value *iteration, IRBuilder<> &builder) const {
  Copies now = copyAll(iteration, false, builder);
  Copies then = copyAll(iteration, true, builder);
  Value *any = builder.getFalse();
  SmallPtrSet<const SCEV *, 4> offsets;
  for (const Lookup &lookup : lookups)
    // At one offset from several arrays the distances are the same.
    if (!scev.isLoopInvariant(scev.getPointerBase(lookup.place), &loop) ||
        offsets.insert(scev.removePointerBase(lookup.place)).second)
      any = builder.CreateOr(
          any,
          areApart(now.lookup(lookup.address), then.lookup(lookup.address),
                   use == IndirectUse::always ? 0 : minTableBytes, builder));
  return any;
}

/// Whether the loop is long, and lookups in it are far apart, in front of it.
Value *IndirectWriter::isWorthwhile() {
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  BasicBlock *front = end->getParent();
  IRBuilder<> builder(end);
  Value *isLong = builder.CreateICmpUGE(last, builder.getInt64(minRepeats()));
  Value *half = builder.CreateLShr(last, 1);
  Instruction *branch = SplitBlockAndInsertIfThen(
      isLong, end->getIterator(), /*Unreachable=*/false,
      /*BranchWeights=*/nullptr, /*DTU=*/nullptr, &loops);
  builder.SetInsertPoint(branch);
  Value *any = builder.CreateOr(areFar(builder.getInt64(0), builder),
                                areFar(half, builder));
  dominators.recalculate(function);
  builder.SetInsertPoint(end->getParent(), end->getParent()->begin());
  PHINode *result = builder.CreatePHI(any->getType(), 2);
  result->addIncoming(any, branch->getParent());
  result->addIncoming(builder.getFalse(), front);
  return result;
}

/// Of longer loops a copy costs more than a branch in each iteration.
static bool isShort(const Loop &loop) {
  constexpr size_t maxCopied = 64;
  size_t all = 0;
  for (const BasicBlock *block : loop.blocks())
    all += block->size();
  return all <= maxCopied;
}

PrefetchVerdict IndirectWriter::run() {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isPrefetch(instruction))
        return {};
      addAccess(instruction);
    }
  if (lookups.empty())
    return {};
  for (auto &[load, index] : indices) {
    index.ahead = divideCeil(distance, countUnrolled(*index.address));
    longest = std::max(longest, index.ahead);
  }
  if (const char *reason = whyNot())
    return {0, {}, 0, reason};
  Instruction *end = loop.getLoopPreheader()->getTerminator();
  last = rounds ? IRBuilder<>(end).CreateSub(getLeft(*rounds),
                                             ConstantInt::get(number, 1))
                : expander.expandCodeFor(
                      scev.getNoopOrZeroExtend(
                          scev.getBackedgeTakenCount(&loop), number),
                      number, end);
  for (auto &[load, index] : indices)
    index.start =
        expander.expandCodeFor(index.address->getStart(), nullptr, end);
  expander.clear();
  Value *isFar = nullptr;
  if (!rounds && use != IndirectUse::asked) {
    isFar = isWorthwhile();
    if (isShort(loop) && canCopy(loop)) {
      copyLoop(loop, *isFar, ".near", loops, dominators, scev);
      isFar = nullptr;
    }
  }
  BasicBlock *header = loop.getHeader();
  PHINode *counter = PHINode::Create(number, 2, "", header->begin());
  IRBuilder<> builder(loop.getLoopLatch()->getTerminator());
  counter->addIncoming(ConstantInt::get(number, 0), loop.getLoopPreheader());
  counter->addIncoming(builder.CreateAdd(counter, builder.getInt64(1)),
                       loop.getLoopLatch());
  builder.SetInsertPoint(header, header->getFirstInsertionPt());
  if (isFar)
    builder.SetInsertPoint(
        splitUnlikely(isFar, header->getFirstInsertionPt(), loops));
  Copies then = copyAll(counter, true, builder);
  for (const Lookup &lookup : lookups)
    writePrefetch(*lookup.access, lookup.isWritten, 1,
                  then.lookup(lookup.address), builder);
  return {unsigned(lookups.size()), {}, distance, nullptr};
}

PrefetchVerdict
mpg::writeIndirectPrefetches(Loop &loop, unsigned distance, IndirectUse use,
                             FunctionAnalysisManager &analyses) {
  return IndirectWriter(loop, distance, use, analyses).run();
}
