// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/ParallelRemarks.h"
#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "base/PassOptions.h"
#include "openmp/Allocations.h"
#include "openmp/CacheRemarks.h"
#include "openmp/CallFrames.h"
#include "openmp/CoarseLoop.h"
#include "openmp/LoopWork.h"
#include "openmp/Sampler.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;
using namespace mpg;

static constexpr char remarkName[] = "SmallParallelRegion";

/// The place of \p fork's directive. It stands in libomp's description,
/// which is ";file;function;line;column;;": flang gives the call itself the
/// line of the procedure.
static DebugLoc directiveOf(const CallBase &fork) {
  const DILocation *location = fork.getDebugLoc();
  auto *description = dyn_cast<GlobalVariable>(fork.getArgOperand(0));
  if (!location || !description || !description->hasInitializer())
    return location;
  auto *fields = dyn_cast<ConstantStruct>(description->getInitializer());
  auto *text = fields && fields->getNumOperands() == 5
                   ? dyn_cast<GlobalVariable>(fields->getOperand(4))
                   : nullptr;
  auto *letters = text && text->hasInitializer()
                      ? dyn_cast<ConstantDataArray>(text->getInitializer())
                      : nullptr;
  SmallVector<StringRef, 8> parts;
  if (letters && letters->isCString())
    letters->getAsCString().split(parts, ';');
  unsigned line = 0, column = 0;
  if (parts.size() < 5 || parts[3].getAsInteger(10, line) ||
      parts[4].getAsInteger(10, column) || !line)
    return location;
  return DILocation::get(fork.getContext(), line, column, location->getScope(),
                         location->getInlinedAt());
}

static void remarkIfSmall(const ParallelRegion &region,
                          FunctionAnalysisManager &analyses,
                          RemarkPlaces &places) {
  Function &body = *region.body;
  auto &loops = analyses.getResult<LoopAnalysis>(body);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(body);
  auto sharings = findWorksharingLoops(body, loops, dominators);
  uint64_t iterations = 0;
  for (const WorksharingLoop &sharing : sharings)
    iterations += constantIterations(sharing).value_or(0);
  // Without a worksharing loop each thread has something of its own to do.
  if (!iterations)
    return;
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(body);
  std::optional<uint64_t> work = workOfRegion(body, sharings, loops, evolution);
  if (!work || *work >= workWorthATeam)
    return;
  places.missed(remarkName, directiveOf(*region.fork),
                *region.fork->getParent(), [&](OptimizationRemarkMissed &text) {
                  text << "the loops of this parallel region have "
                       << ore::NV("Iterations", iterations)
                       << " iterations in all, about "
                       << ore::NV("Instructions", *work)
                       << " instructions, which takes less time than to start "
                          "and join the "
                          "threads: leave it serial, join it with a "
                          "neighbouring region, or "
                          "add a clause such as if(n > 8000)";
                });
}

/// Emits SmallParallelRegion for those of \p regions with little work.
static void remarkSmallRegions(ArrayRef<ParallelRegion> regions,
                               FunctionAnalysisManager &analyses,
                               RemarkPlaces &places) {
  for (const ParallelRegion &region : regions)
    if (!region.hasIf && !region.threads)
      remarkIfSmall(region, analyses, places);
}

/// Whether the program asks for regions inside of regions.
static bool wantsNesting(const Module &module) {
  for (StringRef name : {"omp_set_nested", "omp_set_max_active_levels",
                         "omp_set_nested_", "omp_set_max_active_levels_"}) {
    const Function *function = module.getFunction(name);
    if (function && !function->use_empty())
      return true;
  }
  return false;
}

/// Functions that run in a team because a region's body calls them, directly or
/// through others.
static SmallPtrSet<const Function *, 16>
calledInTeams(ArrayRef<ParallelRegion> regions) {
  SmallPtrSet<const Function *, 16> found;
  SmallVector<const Function *, 16> open;
  for (const ParallelRegion &region : regions)
    open.push_back(region.body);
  while (!open.empty()) {
    const Function *caller = open.pop_back_val();
    for (const BasicBlock &block : *caller)
      for (const Instruction &instruction : block)
        if (auto *call = dyn_cast<CallBase>(&instruction))
          if (const Function *callee = call->getCalledFunction())
            if (!callee->isDeclaration() && found.insert(callee).second)
              open.push_back(callee);
  }
  return found;
}

/// The function in whose text \p fork stands, if that is one that other files
/// may call and that runs in a team here; "" if not.
static StringRef
libraryFunctionOf(const CallBase &fork,
                  const SmallPtrSetImpl<const Function *> &inTeams,
                  const SmallPtrSetImpl<const Function *> &bodies) {
  const Function &function = *fork.getFunction();
  const DILocation *location = fork.getDebugLoc();
  // Inlined into a region's body: only its line tells whose it was.
  if (location && location->getInlinedAt() &&
      (bodies.contains(&function) || inTeams.contains(&function))) {
    const DISubprogram *text = location->getScope()->getSubprogram();
    return text && !text->isLocalToUnit() ? text->getName() : "";
  }
  bool isLibrary = !function.hasLocalLinkage() && inTeams.contains(&function);
  if (!isLibrary)
    return "";
  const DISubprogram *text = function.getSubprogram();
  return text ? text->getName() : function.getName();
}

/// Emits SmallParallelRegion for those of \p regions, all of \p module, that
/// functions for use by others start inside of another region.
static void remarkNestedRegions(Module &module,
                                ArrayRef<ParallelRegion> regions,
                                RemarkPlaces &places) {
  if (wantsNesting(module))
    return;
  SmallPtrSet<const Function *, 16> inTeams = calledInTeams(regions), bodies;
  for (const ParallelRegion &region : regions)
    bodies.insert(region.body);
  for (const ParallelRegion &region : regions) {
    // num_threads says that a team is wanted here, nested or not.
    if (region.hasIf || region.threads)
      continue;
    StringRef name = libraryFunctionOf(*region.fork, inTeams, bodies);
    if (name.empty())
      continue;
    places.missed(
        remarkName, directiveOf(*region.fork), *region.fork->getParent(),
        [&](OptimizationRemarkMissed &text) {
          text << ore::NV("Function", name)
               << " starts this parallel region and is itself called from one, "
                  "where each thread would set up a team of its own: add the "
                  "clause if(!omp_in_parallel())";
        });
  }
}

/// Memory of brk is never on large pages, and where libmpg's heap or Fujitsu's
/// is in the same program, the two run into each other (docs/findings.md,
/// MPG130).
static void remarkBrk(Module &module, RemarkPlaces &places) {
  for (StringRef name : {"brk", "sbrk"}) {
    Function *function = module.getFunction(name);
    // A program may have a function of its own of that name.
    if (!function || !function->isDeclaration())
      continue;
    for (const Use &use : function->uses()) {
      auto *call = dyn_cast<CallBase>(use.getUser());
      if (!call || !call->isCallee(&use) || !call->arg_size())
        continue;
      // sbrk(0) moves nothing.
      auto *bytes = dyn_cast<ConstantInt>(call->getArgOperand(0));
      if (bytes && bytes->isZero())
        continue;
      places.missed("BrkHeap", *call, [&](OptimizationRemarkMissed &text) {
        text << ore::NV("Function", name)
             << " gives memory that is never on large pages and that collides "
                "with a heap that is: use malloc, or mmap for memory of your "
                "own";
      });
    }
  }
}

/// Whether anybody reads what \p module's remarks say.
static bool areRemarksRead(const Module &module) {
  for (const Function &function : module)
    if (!function.isDeclaration())
      return OptimizationRemarkEmitter::allowExtraAnalysis(function,
                                                           remarkPass);
  return false;
}

namespace {
/// What is known of arrays; all of the module is evaluated for it.
struct Arrays {
  Arrays(Module &module, FunctionAnalysisManager &analyses,
         ArrayRef<ParallelRegion> regions)
      : frames(module, regions), sampler(module, analyses, frames),
        places(module) {}

  CallFrames frames;
  Sampler sampler;
  ArrayPlaces places;
};
} // namespace

PreservedAnalyses ParallelRemarksPass::run(Module &module,
                                           ModuleAnalysisManager &analyses) {
  if (!areRemarksRead(module) ||
      loadPassOptions(module).firstTouch == FirstTouch::off)
    return PreservedAnalyses::all();
  auto &ofFunctions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  RemarkPlaces places;
  remarkBrk(module, places);
  auto regions = findRegions(module);
  remarkSmallRegions(regions, ofFunctions, places);
  remarkNestedRegions(module, regions, places);
  std::optional<Arrays> arrays;
  for (Function &function : module) {
    if (function.isDeclaration() || function.hasOptNone())
      continue;
    remarkFalseSharing(function, ofFunctions, places);
    remarkCoarseLoops(function, regions, ofFunctions, places);
    CrowdedLoops crowded = findCrowdedLoops(function, ofFunctions);
    if (crowded.loops.empty())
      continue;
    if (!arrays)
      arrays.emplace(module, ofFunctions, regions);
    remarkSamePow2Arrays(crowded, arrays->sampler, arrays->places, places);
  }
  return PreservedAnalyses::all();
}
