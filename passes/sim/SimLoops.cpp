// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SimFunction.h. The part common to all iterations is computed in front of
// the loop by ScalarEvolution, which knows the addresses of the loop as the
// optimiser left it.

#include "base/LoopRounds.h"
#include "sim/SimFunction.h"
#include "zfill/Zfill.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace llvm::PatternMatch;
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

/// The lines of \p accesses in \p loop; nothing if one has none.
static std::optional<SmallVector<Line, 8>>
getLines(ArrayRef<Instruction *> accesses, const Loop &loop,
         ScalarEvolution &scev) {
  SmallVector<Line, 8> lines;
  for (Instruction *access : accesses) {
    std::optional<Line> line = getLine(*access, loop, scev);
    if (!line)
      return std::nullopt;
    lines.push_back(*line);
  }
  return lines;
}

namespace {
/// Accesses of one loop, computed in front of it.
class SummedLines {
public:
  SummedLines(ArrayRef<Instruction *> accesses, ArrayRef<Line> lines,
              SCEVExpander &expander, Instruction &place)
      : accesses(accesses), builder(&place) {
    for (const Line &line : lines) {
      Type *number = line.stride->getType();
      begins.push_back(
          expander.expandCodeFor(line.begin, line.begin->getType(), &place));
      strides.push_back(expander.expandCodeFor(line.stride, number, &place));
    }
  }
  /// From the iteration \p from on, null for the first, \p each at a time.
  void addTo(SimLoop &loop, Value *from, uint64_t each = 1) {
    for (uint64_t more = 0; more < each; ++more)
      for (size_t at = 0; at < accesses.size(); ++at)
        loop.streams.push_back({accesses[at], getAddress(at, from, more),
                                multiply(strides[at], each)});
  }
  size_t size() const { return accesses.size(); }

private:
  Value *multiply(Value *value, uint64_t times) {
    return times == 1 ? value
                      : builder.CreateMul(value, builder.getInt64(times));
  }
  Value *add(Value *address, Value *way) {
    return address->getType()->isPointerTy()
               ? builder.CreatePtrAdd(address, way)
               : builder.CreateAdd(address, way);
  }
  Value *getAddress(size_t at, Value *from, uint64_t more) {
    Value *address = begins[at];
    if (from)
      address = add(address, builder.CreateMul(strides[at], from));
    return more ? add(address, multiply(strides[at], more)) : address;
  }

  ArrayRef<Instruction *> accesses;
  SmallVector<Value *, 8> begins, strides;
  IRBuilder<> builder;
};
} // namespace

static bool canExpand(ArrayRef<Line> lines, Instruction &place,
                      const SCEVExpander &expander) {
  return llvm::all_of(lines, [&](const Line &line) {
    return expander.isSafeToExpandAt(line.begin, &place) &&
           expander.isSafeToExpandAt(line.stride, &place);
  });
}

/// The iterations of a whole round.
static uint64_t getGroup(Value &now) {
  ConstantInt *group = nullptr;
  if (match(&now, m_ConstantInt(group)) ||
      match(&now, m_Select(m_Value(), m_ConstantInt(group), m_Value())) ||
      match(&now,
            m_Intrinsic<Intrinsic::umin>(m_Value(), m_ConstantInt(group))))
    return group->getZExtValue();
  return 0;
}

/// Finds the prefetches of each round, and the zeroing of some. \returns false
/// if a round accesses memory in any other way.
static bool findBesides(const Loop &rounds, const Loop &loop,
                        SmallVectorImpl<Instruction *> &prefetches,
                        SmallVectorImpl<Instruction *> &zeroing) {
  for (BasicBlock *block : rounds.blocks()) {
    if (loop.contains(block))
      continue;
    for (Instruction &instruction : *block)
      if (simPrefetchLevel(instruction))
        prefetches.push_back(&instruction);
      else if (zeroedAddress(instruction))
        zeroing.push_back(&instruction);
      else if (instruction.mayReadOrWriteMemory())
        return false;
  }
  return true;
}

/// The rounds around \p loop: those that zero, with as many iterations at a
/// time as a round does, then the rest.
static SimLoops sumUpRounds(const Loop &loop, ScalarEvolution &scev,
                            SCEVExpander &expander,
                            ArrayRef<Instruction *> accesses) {
  const Loop &rounds = *loop.getParentLoop();
  BasicBlock *front = rounds.getLoopPreheader();
  Instruction &place = *front->getTerminator();
  SmallVector<Instruction *, 8> prefetches, zeroing;
  uint64_t group = getGroup(*getNow(rounds));
  bool isRestWhole = isa<SelectInst>(getNow(rounds));
  if (!group || !findBesides(rounds, loop, prefetches, zeroing) ||
      (isRestWhole && !prefetches.empty()) ||
      accesses.size() * (group + 1) + zeroing.size() + prefetches.size() >
          maxStreams / 2)
    return {};
  auto lines = getLines(accesses, loop, scev);
  auto prefetched = getLines(prefetches, rounds, scev);
  auto zeroed = getLines(zeroing, rounds, scev);
  if (!lines || !prefetched || !zeroed)
    return {};
  for (Line &line : *lines)
    line.begin = getFirstStart(line.begin, rounds, scev);
  for (ArrayRef<Line> some : {*lines, *prefetched, *zeroed})
    if (!canExpand(some, place, expander))
      return {};
  SummedLines all(accesses, *lines, expander, place);
  SummedLines ahead(prefetches, *prefetched, expander, place);
  SummedLines zeros(zeroing, *zeroed, expander, place);
  IRBuilder<> builder(&place);
  Value *each = builder.getInt64(group), *zero = builder.getInt64(0);
  Value *times =
      cast<PHINode>(getLeft(rounds))->getIncomingValueForBlock(front);
  SimLoops sums;
  Value *first = zeroing.empty() ? nullptr : getZeroingRounds(rounds);
  if (first) {
    SimLoop &sum = sums.emplace_back(SimLoop{&place, first, {}});
    ahead.addTo(sum, nullptr);
    zeros.addTo(sum, nullptr);
    all.addTo(sum, nullptr, group);
  } else {
    first = zero;
  }
  Value *done = builder.CreateMul(first, each);
  Value *rest = builder.CreateSub(times, done);
  if (!isRestWhole) {
    Value *more = builder.CreateUDiv(rest, each);
    SimLoop &whole = sums.emplace_back(SimLoop{&place, more, {}});
    ahead.addTo(whole, first);
    all.addTo(whole, done, group);
    done = builder.CreateAdd(done, builder.CreateMul(more, each));
    rest = builder.CreateSub(times, done);
    Value *isPart =
        builder.CreateZExt(builder.CreateIsNotNull(rest), builder.getInt64Ty());
    if (ahead.size())
      ahead.addTo(sums.emplace_back(SimLoop{&place, isPart, {}}),
                  builder.CreateAdd(first, more));
  }
  all.addTo(sums.emplace_back(SimLoop{&place, rest, {}}), done);
  return sums;
}

SimLoops mpg::sumUp(const Loop &loop, ScalarEvolution &scev,
                    SCEVExpander &expander, const DominatorTree &dominators) {
  BasicBlock *preheader = loop.getLoopPreheader();
  BasicBlock *latch = loop.getLoopLatch();
  if (!preheader || !latch || loop.getExitingBlock() != latch)
    return {};
  const SCEV *repeats = scev.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(repeats) ||
      scev.getTypeSizeInBits(repeats->getType()) > 64)
    return {};
  auto accesses = getAccessCount(loop, dominators);
  if (!accesses)
    return {};
  if (isRounds(loop.getParentLoop()))
    if (SimLoops rounds = sumUpRounds(loop, scev, expander, *accesses);
        !rounds.empty())
      return rounds;
  Instruction *place = preheader->getTerminator();
  Type *number = Type::getInt64Ty(place->getContext());
  const SCEV *times = scev.getAddExpr(scev.getNoopOrZeroExtend(repeats, number),
                                      scev.getOne(number));
  auto lines = getLines(*accesses, loop, scev);
  if (!lines || !canExpand(*lines, *place, expander) ||
      !expander.isSafeToExpandAt(times, place))
    return {};
  SimLoop sum = {place, expander.expandCodeFor(times, number, place), {}};
  SummedLines(*accesses, *lines, expander, *place).addTo(sum, nullptr);
  return {sum};
}
