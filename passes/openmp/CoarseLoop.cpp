// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/CoarseLoop.h"
#include "openmp/LoopWork.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
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

/// The loop in \p outer that can be collapsed with it; null if there is none.
/// Different pointers are taken to be to different memory: good enough for an
/// advice, not for a change of code.
static const Loop *collapsibleLoop(const Loop &outer,
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

/// Below this many iterations for each thread, one more or less is a difference
/// of a quarter or more.
static constexpr uint64_t iterationsPerThread = 4;

/// Where the number of cores is not known: hardly a machine has fewer.
static constexpr uint64_t fewestThreads = 4;

/// Threads that \p function runs in; nothing if that is up to the machine.
static std::optional<uint64_t> threadsOf(const Function &function,
                                         ArrayRef<ParallelRegion> regions) {
  for (const ParallelRegion &region : regions)
    if (region.body == &function && region.threads) {
      auto *number = dyn_cast<ConstantInt>(region.threads);
      return number ? std::optional<uint64_t>(number->getZExtValue())
                    : std::nullopt;
    }
  return cacheShapeFor(function).cores;
}

static bool isCoarse(uint64_t iterations, std::optional<uint64_t> threads) {
  // Equal shares need no more iterations; all do the same in a perfect nest.
  if (threads && (!*threads || iterations % *threads == 0))
    return false;
  return iterations < iterationsPerThread * threads.value_or(fewestThreads);
}

namespace {
struct Collapse {
  unsigned loops = 1;
  std::optional<uint64_t> iterations; ///< of all of them together, if known
};
} // namespace

/// How many loops from \p outermost on have to be collapsed until there are
/// enough iterations; 1 if that does not help.
static Collapse loopsToCollapse(const Loop &outermost, uint64_t iterations,
                                std::optional<uint64_t> threads,
                                ScalarEvolution &evolution) {
  const Loop *loop = &outermost;
  for (unsigned count = 2; (loop = collapsibleLoop(*loop, evolution));
       ++count) {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (!trips)
      return {count, std::nullopt};
    iterations *= trips;
    if (!isCoarse(iterations, threads))
      return {count, iterations};
  }
  return {};
}

/// The loop over iterations of \p sharing; null if the code does not show it.
static const Loop *iterationLoop(const WorksharingLoop &sharing) {
  size_t wanted = sharing.schedule == LoopSchedule::block ? 1 : 2;
  return sharing.loops.size() == wanted ? sharing.loops.back() : nullptr;
}

static void remark(const WorksharingLoop &sharing, uint64_t iterations,
                   std::optional<uint64_t> threads, Collapse collapse,
                   RemarkPlaces &places) {
  places.missed(
      "CoarseLoop", *sharing.init, [&](OptimizationRemarkMissed &text) {
        text << "this loop shares out " << ore::NV("Iterations", iterations)
             << " iterations";
        if (threads)
          text << " to " << ore::NV("Threads", *threads) << " threads";
        text << ", too few for equal parts: add the clause collapse("
             << ore::NV("Collapse", collapse.loops)
             << ") to share out the loop inside of it as well";
        if (collapse.iterations)
          text << ", " << ore::NV("CollapsedIterations", *collapse.iterations)
               << " iterations in all";
      });
}

void mpg::remarkCoarseLoops(Function &function,
                            ArrayRef<ParallelRegion> regions,
                            FunctionAnalysisManager &analyses,
                            RemarkPlaces &places) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return;
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  auto sharings = findWorksharingLoops(function, loops, dominators);
  if (sharings.empty())
    return;
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
  std::optional<uint64_t> threads = threadsOf(function, regions);
  std::optional<uint64_t> work =
      workOfRegion(function, sharings, loops, evolution);
  // Little work is not made worth sharing out by smaller parts.
  if (work && *work < workWorthATeam)
    return;
  for (const WorksharingLoop &sharing : sharings) {
    std::optional<uint64_t> iterations = constantIterations(sharing);
    const Loop *outermost = iterationLoop(sharing);
    if (!iterations || !outermost || !isCoarse(*iterations, threads))
      continue;
    Collapse collapse =
        loopsToCollapse(*outermost, *iterations, threads, evolution);
    if (collapse.loops > 1)
      remark(sharing, *iterations, threads, collapse, places);
  }
}
