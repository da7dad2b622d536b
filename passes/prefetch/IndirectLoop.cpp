// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefetches of what a loop looks up by an index, a[f(b[i])]:
//
//   later = min(i + distance, last)
//   prefetch &a[f(b[later])]
//
// b[later] is an element that the loop reads in any case, so that this load
// cannot fault either. An index that the loop changes until then only leads to
// a useless prefetch.

#include "base/Access.h"
#include "base/Hint.h"
#include "base/LoopRounds.h"
#include "base/Scev.h"
#include "prefetch/Lookup.h"
#include "prefetch/Prefetch.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

namespace {
class IndirectWriter {
public:
  IndirectWriter(Loop &loop, unsigned distance, bool hasRows,
                 FunctionAnalysisManager &analyses)
      : loop(loop),
        rounds(getZeroedRound(loop) ? loop.getParentLoop() : nullptr),
        function(*loop.getHeader()->getParent()), distance(distance),
        hasRows(hasRows),
        scev(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        expander(makeExpander(scev, function, "mpg.indirect")),
        number(Type::getInt64Ty(function.getContext())) {}
  PrefetchVerdict run();

private:
  bool isInEach(const Instruction &step) const;
  const SCEVAddRecExpr *getIndexAddress(const LoadInst &load) const;
  bool findSteps(Value *value, SetVector<Instruction *> &steps) const;
  void addAccess(Instruction &access);
  bool isRow() const;
  const char *whyNot() const;
  unsigned countUnrolled(const SCEVAddRecExpr &index) const;
  Value *getLater(uint64_t ahead, IRBuilder<> &builder);
  Value *copy(const Instruction &step, IRBuilder<> &builder);

  Loop &loop;
  Loop *rounds; ///< of zero fill, around the loop; null: none
  Function &function;
  unsigned distance;
  bool hasRows; ///< whether loops over rows get prefetches, too
  ScalarEvolution &scev;
  DominatorTree &dominators;
  SCEVExpander expander;
  IntegerType *number;
  SmallVector<Lookup, 8> lookups;
  SetVector<Instruction *> allSteps; ///< of all lookups, in order
  DenseMap<Value *, Value *> copies; ///< what each is some iterations later
  DenseMap<uint64_t, Value *> later; ///< the iteration, by the distance
  PHINode *counter = nullptr;
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
      !isa<SCEVConstant>(line->getStepRecurrence(scev)))
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
}

/// Whether a loop around this one gives it other indices each time, as for the
/// rows of a sparse matrix. Most rows are shorter than a useful distance.
bool IndirectWriter::isRow() const {
  Loop *parent = (rounds ? rounds : &loop)->getParentLoop();
  return parent && llvm::any_of(allSteps, [&](Instruction *step) {
           auto *load = dyn_cast<LoadInst>(step);
           if (!load)
             return false;
           const SCEV *start = getIndexAddress(*load)->getStart();
           if (rounds)
             start = getFirstStart(start, *rounds, scev);
           return !scev.isLoopInvariant(start, parent);
         });
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
  const SCEV *repeats = scev.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(repeats) ||
      repeats->getType()->getIntegerBitWidth() > 64 ||
      !expander.isSafeToExpandAt(repeats,
                                 loop.getLoopPreheader()->getTerminator()))
    return "how often it runs is not known when it begins";
  if (!hasRows && isRow())
    return "its rows may be shorter than the distance";
  unsigned times = scev.getSmallConstantMaxTripCount(&loop);
  return !rounds && times && times <= distance ? "it is too short" : nullptr;
}

/// How many iterations of the source an iteration does, as unrolled.
unsigned IndirectWriter::countUnrolled(const SCEVAddRecExpr &index) const {
  return unsigned(llvm::count_if(allSteps, [&](Instruction *step) {
    auto *load = dyn_cast<LoadInst>(step);
    const SCEVAddRecExpr *other = load ? getIndexAddress(*load) : nullptr;
    return other &&
           other->getStepRecurrence(scev) == index.getStepRecurrence(scev) &&
           scev.getPointerBase(other) == scev.getPointerBase(&index);
  }));
}

/// The iteration that comes \p ahead iterations later, or the last one.
Value *IndirectWriter::getLater(uint64_t ahead, IRBuilder<> &builder) {
  Value *&iteration = later[ahead];
  if (!iteration)
    iteration = builder.CreateBinaryIntrinsic(
        Intrinsic::umin, builder.CreateAdd(counter, builder.getInt64(ahead)),
        last);
  return iteration;
}

/// \p step as it is some iterations later.
Value *IndirectWriter::copy(const Instruction &step, IRBuilder<> &builder) {
  if (auto *load = dyn_cast<LoadInst>(&step)) {
    const SCEVAddRecExpr *line = getIndexAddress(*load);
    Value *iteration =
        getLater(divideCeil(distance, countUnrolled(*line)), builder);
    Value *start = expander.expandCodeFor(
        line->getStart(), nullptr, loop.getLoopPreheader()->getTerminator());
    Value *bytes = builder.CreateMul(
        iteration,
        expander.expandCodeFor(line->getStepRecurrence(scev), number,
                               loop.getLoopPreheader()->getTerminator()));
    Value *address = builder.CreateGEP(builder.getInt8Ty(), start, bytes);
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

PrefetchVerdict IndirectWriter::run() {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (isPrefetch(instruction))
        return {};
      addAccess(instruction);
    }
  if (lookups.empty())
    return {};
  if (const char *reason = whyNot())
    return {0, {}, 0, reason};
  BasicBlock *front = loop.getLoopPreheader(), *header = loop.getHeader();
  Instruction *end = front->getTerminator();
  last = rounds ? IRBuilder<>(end).CreateSub(getLeft(*rounds),
                                             ConstantInt::get(number, 1))
                : expander.expandCodeFor(
                      scev.getNoopOrZeroExtend(
                          scev.getBackedgeTakenCount(&loop), number),
                      number, end);
  counter = PHINode::Create(number, 2, "", header->begin());
  IRBuilder<> builder(loop.getLoopLatch()->getTerminator());
  counter->addIncoming(ConstantInt::get(number, 0), front);
  counter->addIncoming(builder.CreateAdd(counter, builder.getInt64(1)),
                       loop.getLoopLatch());
  builder.SetInsertPoint(header, header->getFirstInsertionPt());
  for (Instruction *step : allSteps) {
    builder.SetCurrentDebugLocation(step->getDebugLoc());
    copies[step] = copy(*step, builder);
  }
  for (const Lookup &lookup : lookups)
    writePrefetch(*lookup.access, lookup.isWritten, 1,
                  copies.lookup(lookup.address), builder);
  return {unsigned(lookups.size()), {}, distance, nullptr};
}

PrefetchVerdict
mpg::writeIndirectPrefetches(Loop &loop, unsigned distance, bool hasRows,
                             FunctionAnalysisManager &analyses) {
  return IndirectWriter(loop, distance, hasRows, analyses).run();
}
