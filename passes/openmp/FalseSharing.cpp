// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/FalseSharing.h"
#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "openmp/AddressGrowth.h"
#include "openmp/CacheShape.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace mpg;

/// Fewer writes than these by a thread cost less than the start of its region.
static constexpr unsigned manyWrites = 64;

/// The address that \p instruction writes to, if it is a store or an atomic.
static Value *writtenAddress(Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->getPointerOperand();
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&instruction))
    return atomic->getPointerOperand();
  return nullptr;
}

/// Whether only the thread that runs this function has the memory.
static bool isOwnMemory(const Value &address) {
  const Value *object = getUnderlyingObject(&address);
  auto *global = dyn_cast<GlobalVariable>(object);
  return isa<AllocaInst>(object) || isNoAliasCall(object) ||
         (global && global->isThreadLocal());
}

/// Calls that wait for other threads, or ask libomp for work, take longer than
/// to fetch a line; of other calls we do not know.
static bool callsFunction(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction))
        return true;
  return false;
}

static bool waitsForThreads(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call ? call->getCalledFunction() : nullptr;
      if (callee && (callee->getName().starts_with("__kmpc_barrier") ||
                     callee->getName().starts_with("__kmpc_fork_call")))
        return true;
    }
  return false;
}

namespace {
/// The writes of one function.
class Search {
public:
  Search(Function &function, FunctionAnalysisManager &analyses,
         RemarkPlaces &places)
      : places(places), shape(cacheShapeFor(function)),
        loops(analyses.getResult<LoopAnalysis>(function)),
        evolution(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        dominators(analyses.getResult<DominatorTreeAnalysis>(function)),
        sharings(findWorksharingLoops(function, loops, dominators)) {}

  void look(Instruction &instruction);

private:
  bool isRepeated(const Instruction &write, const Loop *within) const;
  std::optional<uint64_t> bytesBetweenTurns(const Instruction &write,
                                            const SCEV &address) const;
  void remark(Instruction &write, const Value &address, const char *whose,
              uint64_t bytes, const char *fix);

  RemarkPlaces &places;
  CacheShape shape;
  LoopInfo &loops;
  ScalarEvolution &evolution;
  DominatorTree &dominators;
  SmallVector<WorksharingLoop, 4> sharings;
};
} // namespace

/// Whether a thread executes \p write many times in loops inside of \p within
/// (null: in the function), without waiting in between.
bool Search::isRepeated(const Instruction &write, const Loop *within) const {
  uint64_t times = 1;
  for (const Loop *loop = loops.getLoopFor(write.getParent());
       loop && loop != within && !waitsForThreads(*loop);
       loop = loop->getParentLoop()) {
    unsigned trips = evolution.getSmallConstantTripCount(loop);
    if (!trips)
      return true; // usually many
    times *= trips;
    if (times >= manyWrites)
      return true;
  }
  return false;
}

static bool dealsOutTurns(const WorksharingLoop &sharing) {
  return sharing.schedule == LoopSchedule::chunk ||
         StringRef(sharing.name()) == "dynamic";
}

/// Iterations that a thread gets at a time, if that is known.
static std::optional<uint64_t>
iterationsOfTurn(const WorksharingLoop &sharing) {
  const Value *chunk = sharing.chunk;
  // __kmpc_dispatch_init_*(loc, thread, schedule, lower, upper, stride, chunk)
  if (!chunk && sharing.init->arg_size() == 7)
    chunk = sharing.init->getArgOperand(6);
  auto *number = dyn_cast_or_null<ConstantInt>(chunk);
  if (!number || number->getValue().getActiveBits() > 32)
    return std::nullopt;
  return number->getZExtValue();
}

/// The bytes that \p write, at \p address, moves on from the iterations of one
/// thread to those of the next in a worksharing loop with short turns.
std::optional<uint64_t> Search::bytesBetweenTurns(const Instruction &write,
                                                  const SCEV &address) const {
  const WorksharingLoop *sharing =
      worksharingLoopOf(write, sharings, dominators);
  if (!sharing || !dealsOutTurns(*sharing) || sharing->loops.size() != 2)
    return std::nullopt;
  const Loop *iterations = sharing->loops.back();
  std::optional<uint64_t> turn = iterationsOfTurn(*sharing);
  if (!turn || !iterations->contains(&write))
    return std::nullopt;
  // One write at the end of a long iteration does no harm; a loop that does
  // nothing else does, unless its turns cost more.
  bool isShort = sharing->schedule == LoopSchedule::chunk &&
                 iterations->isInnermost() && !callsFunction(*iterations);
  if (!isShort && !isRepeated(write, iterations))
    return std::nullopt;
  std::optional<int64_t> step = growthPerIteration(&address, *iterations);
  if (!step)
    return std::nullopt;
  return std::abs(*step) * *turn;
}

void Search::remark(Instruction &write, const Value &address, const char *whose,
                    uint64_t bytes, const char *fix) {
  places.missed("FalseSharing", write, [&](OptimizationRemarkMissed &text) {
    std::string name = variableNameOf(address);
    text << "threads write elements of "
         << ore::NV("Array", name.empty() ? "an array" : name) << " that are "
         << ore::NV("Bytes", bytes) << " bytes apart " << whose
         << ", in one cache line of " << ore::NV("LineBytes", shape.lineBytes)
         << " bytes that they take from each other at every write: " << fix;
  });
}

void Search::look(Instruction &instruction) {
  Value *address = writtenAddress(instruction);
  if (!address || isOwnMemory(*address) ||
      !evolution.isSCEVable(address->getType()))
    return;
  const SCEV *at = evolution.getSCEV(address);
  uint64_t growth = std::abs(growthPerThread(at).value_or(0));
  if (growth && growth < shape.lineBytes && isRepeated(instruction, nullptr))
    remark(instruction, *address, "from thread to thread", growth,
           "sum up in a private variable or by reduction, or let each "
           "thread's part begin in a line of its own");
  uint64_t turn = bytesBetweenTurns(instruction, *at).value_or(0);
  if (turn && turn < shape.lineBytes)
    remark(instruction, *address, "from one thread's iterations to the next's",
           turn,
           "use schedule(static), larger chunks, or a private variable in the "
           "inner loop");
}

void mpg::remarkFalseSharing(Function &function,
                             FunctionAnalysisManager &analyses,
                             RemarkPlaces &places) {
  // What is written once takes no line from anybody.
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return;
  Search search(function, analyses, places);
  for (BasicBlock &block : function)
    if (loops.getLoopFor(&block))
      for (Instruction &instruction : block)
        search.look(instruction);
}
