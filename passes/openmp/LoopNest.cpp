// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/LoopNest.h"
#include "openmp/AddressGrowth.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

/// Whether \p instruction keeps a sum of \p inner in a variable of the thread:
/// the private copy of a reduction clause.
static bool keepsSum(const Instruction &instruction, const Loop &inner) {
  auto *store = dyn_cast<StoreInst>(&instruction);
  if (!store || !isa<AllocaInst>(store->getPointerOperand()))
    return false;
  const Value *sum = store->getValueOperand();
  // Behind the loop its values go through a phi of one operand.
  auto *behind = dyn_cast<PHINode>(sum);
  if (behind && !inner.contains(behind) && behind->getNumOperands() == 1)
    sum = behind->getIncomingValue(0);
  return any_of(inner.getHeader()->phis(), [&](const PHINode &phi) {
    return is_contained(phi.incoming_values(), sum);
  });
}

/// Whether \p outer does nothing but to run \p inner.
static bool isPerfectNest(const Loop &outer, const Loop &inner) {
  for (const BasicBlock *block : outer.blocks()) {
    if (inner.contains(block))
      continue;
    for (const Instruction &instruction : *block)
      if (instruction.mayHaveSideEffects() &&
          !instruction.isDebugOrPseudoInst() && !keepsSum(instruction, inner))
        return false;
  }
  return true;
}

/// Whether what \p inner carries from one iteration to the next are counters,
/// and sums that go on through \p outer: those of a reduction clause. A sum
/// that begins anew belongs to one iteration of outer.
static bool carriesOnlyReductions(const Loop &outer, const Loop &inner,
                                  ScalarEvolution &evolution) {
  for (const PHINode &phi : inner.getHeader()->phis()) {
    bool isCounter =
        evolution.isSCEVable(phi.getType()) &&
        isa<SCEVAddRecExpr>(evolution.getSCEV(const_cast<PHINode *>(&phi)));
    if (isCounter)
      continue;
    const BasicBlock *before = inner.getLoopPredecessor();
    auto *start = before
                      ? dyn_cast<PHINode>(phi.getIncomingValueForBlock(before))
                      : nullptr;
    if (!start || start->getParent() != outer.getHeader())
      return false;
  }
  return true;
}

namespace {
struct MemoryUse {
  const SCEV *address;
  bool isWrite;
};
} // namespace

/// All loads and stores of \p loop; nothing if it touches memory otherwise.
static std::optional<SmallVector<MemoryUse, 8>>
memoryUses(const Loop &loop, ScalarEvolution &evolution) {
  SmallVector<MemoryUse, 8> uses;
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (keepsSum(instruction, loop))
        continue;
      Value *address = getLoadStorePointerOperand(&instruction);
      if (address)
        uses.push_back(
            {evolution.getSCEV(address), isa<StoreInst>(instruction)});
      else if (instruction.mayHaveSideEffects() &&
               !instruction.isDebugOrPseudoInst())
        return std::nullopt;
    }
  return uses;
}

/// Whether \p address moves on in each iteration of \p loop, by whatever.
static bool movesOn(const Loop &loop, const SCEV *address) {
  while (auto *steps = dyn_cast<SCEVAddRecExpr>(address)) {
    if (steps->getLoop() == &loop)
      return true;
    address = steps->getStart();
  }
  return false;
}

/// Whether iterations of \p loop other than the one that does \p write may
/// touch what it writes, by \p other.
static bool meetElsewhere(const Loop &loop, const MemoryUse &write,
                          const MemoryUse &other, ScalarEvolution &evolution) {
  if (evolution.getPointerBase(write.address) !=
      evolution.getPointerBase(other.address))
    return false;
  std::optional<int64_t> step = growthPerIteration(write.address, loop);
  if (step ? *step == 0 : !movesOn(loop, write.address))
    return true;
  const SCEV *distance = evolution.getMinusSCEV(other.address, write.address);
  if (distance->isZero())
    return false;
  auto *bytes = dyn_cast<SCEVConstant>(distance);
  // Fields of one structure lie less than a step apart.
  return !bytes || !step || bytes->getAPInt().abs().uge(std::abs(*step));
}

static bool isIndependent(const Loop &loop, ScalarEvolution &evolution) {
  auto uses = memoryUses(loop, evolution);
  if (!uses)
    return false;
  for (const MemoryUse &write : *uses)
    for (const MemoryUse &other : *uses)
      if (write.isWrite && meetElsewhere(loop, write, other, evolution))
        return false;
  return true;
}

const Loop *mpg::collapsibleLoop(const Loop &outer,
                                 ScalarEvolution &evolution) {
  if (outer.getSubLoops().size() != 1)
    return nullptr;
  const Loop *inner = outer.getSubLoops().front();
  const SCEV *trips = evolution.getBackedgeTakenCount(inner);
  // Collapsed loops count all iterations before the first.
  bool isRectangular = !isa<SCEVCouldNotCompute>(trips) &&
                       evolution.isLoopInvariant(trips, &outer);
  if (!isRectangular || !isPerfectNest(outer, *inner) ||
      !carriesOnlyReductions(outer, *inner, evolution) ||
      !isIndependent(*inner, evolution))
    return nullptr;
  return inner;
}
