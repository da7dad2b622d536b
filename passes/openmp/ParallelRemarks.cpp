// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "openmp/ParallelRemarks.h"
#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "base/PassOptions.h"
#include "openmp/ArrayPlaces.h"
#include "openmp/CallFrames.h"
#include "openmp/CoarseLoop.h"
#include "openmp/FalseSharing.h"
#include "openmp/SamePow2Arrays.h"
#include "openmp/Sampler.h"
#include "openmp/SmallRegion.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include <optional>

using namespace llvm;
using namespace mpg;

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
