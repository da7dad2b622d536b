// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass for remarks about causes of slow parallel code other than the
// placement of memory. Those about loops with too few iterations, small and
// nested regions, and brk are made here, those about caches in
// CacheRemarks.cpp. Regions with an if clause or num_threads, whose author has
// considered it, and those with work unknown at compile time are skipped. See
// LabPasses.h.

#include "LabPasses.h"
#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/OmpRegions.h"
#include "base/PassOptions.h"
#include "openmp/Allocations.h"
#include "openmp/CallFrames.h"
#include "openmp/Sampler.h"
#include "remarks/LoopWork.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include <optional>

using namespace llvm;
using namespace mpg;

// Worksharing loops with so few iterations that some threads get one more than
// others, or none, around a loop that could be shared out with them.
//
// Only told where collapse is legal as far as we can see: the loops are nested
// perfectly, and iterations of the inner one do not need each other.

/// Whether \p instruction keeps a sum of \p inner in a variable of the thread:
/// the private copy of a reduction clause.
static bool keepsSum(const Instruction &instruction, const Loop &inner) {
  auto *store = dyn_cast<StoreInst>(&instruction);
  if (!store || !isa<AllocaInst>(store->getPointerOperand()))
    return false;
  const Value *sum = store->getValueOperand();
  // After the loop its values go through a phi of one operand.
  auto *after = dyn_cast<PHINode>(sum);
  if (after && !inner.contains(after) && after->getNumOperands() == 1)
    sum = after->getIncomingValue(0);
  return any_of(inner.getHeader()->phis(), [&](const PHINode &phi) {
    return is_contained(phi.incoming_values(), sum);
  });
}

/// Whether \p inner is the whole body of \p outer.
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
/// that begins again belongs to one iteration of outer.
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
/// Assumes that different pointers refer to different memory: good enough for
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
static std::optional<uint64_t> findThreads(const Function &function,
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
  // Equal shares need no more iterations; in a perfect nest all are equal.
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
  places.missed("CoarseLoop", *sharing.init, [&](auto &text) {
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

/// Emits CoarseLoop for the worksharing loops of \p function, which runs as
/// those of \p regions that have it as their body.
static void remarkCoarseLoops(Function &function,
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
  std::optional<uint64_t> threads = findThreads(function, regions);
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

// Regions

static constexpr char remarkName[] = "SmallParallelRegion";

/// The place of \p fork's directive. libomp's description has it, as
/// ";file;function;line;column;;": flang gives the call itself the line of the
/// procedure.
static DebugLoc parseDirective(const CallBase &fork) {
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
  // Without a worksharing loop each thread does different work.
  if (!iterations)
    return;
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(body);
  std::optional<uint64_t> work = workOfRegion(body, sharings, loops, evolution);
  if (!work || *work >= workWorthATeam)
    return;
  places.missed(remarkName, parseDirective(*region.fork),
                *region.fork->getParent(), [&](auto &text) {
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

/// Whether the program requests nested regions.
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
findLibraryFunction(const CallBase &fork,
                    const SmallPtrSetImpl<const Function *> &inTeams,
                    const SmallPtrSetImpl<const Function *> &bodies) {
  const Function &function = *fork.getFunction();
  const DILocation *location = fork.getDebugLoc();
  // Inlined into a region's body: only its line shows which function it came
  // from.
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
    // num_threads shows that a team is intended here, nested or not.
    if (region.hasIf || region.threads)
      continue;
    StringRef name = findLibraryFunction(*region.fork, inTeams, bodies);
    if (name.empty())
      continue;
    places.missed(
        remarkName, parseDirective(*region.fork), *region.fork->getParent(),
        [&](auto &text) {
          text << ore::NV("Function", name)
               << " starts this parallel region and is itself called from one, "
                  "where each thread would start another team: add the "
                  "clause if(!omp_in_parallel())";
        });
  }
}

/// Memory of brk is never on large pages, and where libmpg's heap or Fujitsu's
/// is in the same program, the two run into each other (mpgaudit's
/// MPG130).
static void remarkBrk(Module &module, RemarkPlaces &places) {
  for (StringRef name : {"brk", "sbrk"}) {
    Function *function = module.getFunction(name);
    // A program may define a function of that name.
    if (!function || !function->isDeclaration())
      continue;
    for (const Use &use : function->uses()) {
      auto *call = dyn_cast<CallBase>(use.getUser());
      if (!call || !call->isCallee(&use) || !call->arg_size())
        continue;
      // sbrk(0) does not move the break.
      auto *bytes = dyn_cast<ConstantInt>(call->getArgOperand(0));
      if (bytes && bytes->isZero())
        continue;
      places.missed("BrkHeap", *call, [&](auto &text) {
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
/// Facts about arrays, from an evaluation of the whole module.
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

namespace {
/// Costs nothing when no remarks are asked for.
struct ParallelRemarksPass : PassInfoMixin<ParallelRemarksPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);
};
} // namespace

PreservedAnalyses ParallelRemarksPass::run(Module &module,
                                           ModuleAnalysisManager &analyses) {
  // Threads of a GPU share lines on purpose.
  if (!areRemarksRead(module) || !isLinux64(module) ||
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

void mpg::addParallelRemarks(ModulePassManager &passes) {
  passes.addPass(ParallelRemarksPass());
}
