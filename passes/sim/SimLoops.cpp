// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimFunction.h. The part common to all iterations is computed in front of
// the loop by ScalarEvolution, which knows the addresses of the loop as the
// optimiser left it.

#include "sim/SimFunction.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace mpg;

/// More would not fit into a chunk with what else the block has.
static constexpr unsigned maxStreams = 128;

const Value *mpg::simAddress(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->getPointerOperand();
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->getPointerOperand();
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return update->getPointerOperand();
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  if (simPrefetchLevel(instruction))
    return cast<CallInst>(instruction).getArgOperand(0);
  return zeroedAddress(instruction);
}

/// The loads and stores of \p loop in their order; nothing if there is
/// something else that touches memory, or one that not every iteration reaches.
static std::optional<SmallVector<Instruction *, 8>>
getAccessCount(const Loop &loop, const DominatorTree &dominators) {
  SmallVector<Instruction *, 8> found;
  BasicBlock *latch = loop.getLoopLatch();
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (!instruction.mayReadOrWriteMemory()) {
        // A call that does not come back would end the loop.
        if (auto *call = dyn_cast<CallBase>(&instruction))
          if (!call->willReturn() || !call->doesNotThrow())
            return std::nullopt;
        continue;
      }
      if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction))
        if (intrinsic->isAssumeLikeIntrinsic())
          continue;
      if (isa<FenceInst>(instruction))
        continue;
      if (!simAddress(instruction) || !dominators.dominates(block, latch))
        return std::nullopt;
      found.push_back(&instruction);
    }
  if (found.empty() || found.size() > maxStreams)
    return std::nullopt;
  llvm::sort(found, [&](const Instruction *a, const Instruction *b) {
    return a != b && dominators.dominates(a, b);
  });
  return found;
}

namespace {
struct Line {
  const SCEV *begin, *stride;
};
} // namespace

/// The addresses of \p access in \p loop, if they lie on a line.
static std::optional<Line> getLine(const Instruction &access, const Loop &loop,
                                   ScalarEvolution &scev) {
  auto *address = const_cast<Value *>(simAddress(access));
  const SCEV *all = scev.getSCEV(address);
  Type *number = Type::getInt64Ty(address->getContext());
  if (scev.isLoopInvariant(all, &loop))
    return Line{all, scev.getZero(number)};
  auto *line = dyn_cast<SCEVAddRecExpr>(all);
  if (!line || line->getLoop() != &loop || !line->isAffine())
    return std::nullopt;
  const SCEV *stride = line->getStepRecurrence(scev);
  if (!scev.isLoopInvariant(stride, &loop) || stride->getType() != number)
    return std::nullopt;
  return Line{line->getStart(), stride};
}

void mpg::addPreheaders(LoopInfo &loops, DominatorTree &dominators) {
  for (Loop *loop : loops.getLoopsInPreorder()) {
    BasicBlock *latch = loop->getLoopLatch();
    if (loop->isInnermost() && latch && loop->getExitingBlock() == latch &&
        !loop->getLoopPreheader())
      InsertPreheaderForLoop(loop, &dominators, &loops, nullptr,
                             /*PreserveLCSSA=*/false);
  }
}

std::optional<SimLoop> mpg::sumUp(const Loop &loop, ScalarEvolution &scev,
                                  SCEVExpander &expander,
                                  const DominatorTree &dominators) {
  BasicBlock *preheader = loop.getLoopPreheader();
  BasicBlock *latch = loop.getLoopLatch();
  if (!preheader || !latch || loop.getExitingBlock() != latch)
    return std::nullopt;
  const SCEV *repeats = scev.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(repeats) ||
      scev.getTypeSizeInBits(repeats->getType()) > 64)
    return std::nullopt;
  auto accesses = getAccessCount(loop, dominators);
  if (!accesses)
    return std::nullopt;
  Instruction *place = preheader->getTerminator();
  Type *number = Type::getInt64Ty(place->getContext());
  const SCEV *times = scev.getAddExpr(scev.getNoopOrZeroExtend(repeats, number),
                                      scev.getOne(number));
  SmallVector<const SCEV *, 16> wanted = {times};
  SmallVector<Line, 8> lines;
  for (Instruction *access : *accesses) {
    std::optional<Line> line = getLine(*access, loop, scev);
    if (!line)
      return std::nullopt;
    lines.push_back(*line);
    wanted.append({line->begin, line->stride});
  }
  for (const SCEV *value : wanted)
    if (!expander.isSafeToExpandAt(value, place))
      return std::nullopt;
  SimLoop result = {place, expander.expandCodeFor(times, number, place), {}};
  for (size_t at = 0; at < lines.size(); ++at)
    result.streams.push_back(
        {(*accesses)[at],
         expander.expandCodeFor(lines[at].begin, lines[at].begin->getType(),
                                place),
         expander.expandCodeFor(lines[at].stride, number, place)});
  return result;
}
