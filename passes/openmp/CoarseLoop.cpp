// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/CoarseLoop.h"
#include "openmp/CacheShape.h"
#include "openmp/LoopNest.h"
#include "openmp/LoopWork.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;
using namespace mpg;

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
