// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All nests of a module, and a remark for each. See SectorAuto.h.

#include "base/Access.h"
#include "base/Diagnostics.h"
#include "base/Hint.h"
#include "base/PassOptions.h"
#include "sector/SectorAuto.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <list>

using namespace llvm;
using namespace mpg;

namespace {
/// A nest with all that its place refers to.
struct Planned {
  Nest nest;
  NestPlace place;
  NestVerdict verdict;
};

class SectorPlanner {
public:
  SectorPlanner(Module &module, FunctionAnalysisManager &analyses)
      : module(module), analyses(analyses), regions(findRegions(module)) {}
  bool run();

private:
  using Functions = SmallSetVector<Function *, 16>;
  Functions reachableFrom(Functions functions) const;
  void findOthers();
  const char *whyNot(const Function &function) const;
  void visitFunction(Function &function);
  void visitRegion(Function &function, SmallVectorImpl<Nest> &nests);
  void plan(Nest nest, const ParallelRegion *region);
  void emitRemarks() const;

  Module &module;
  FunctionAnalysisManager &analyses;
  SmallVector<ParallelRegion, 8> regions;
  Functions withWays; ///< of the user, or called from such code
  Functions inTeams;  ///< region bodies, and what they call
  std::list<Planned> planned;
  std::list<WorksharingLoop> sharings;
};
} // namespace

/// \p functions, and all that they call or run in a team.
SectorPlanner::Functions
SectorPlanner::reachableFrom(Functions functions) const {
  for (unsigned next = 0; next < functions.size(); ++next)
    for (Instruction &instruction : instructions(*functions[next])) {
      auto *call = dyn_cast<CallBase>(&instruction);
      if (!call)
        continue;
      std::optional<RegionStart> start = findStart(*call);
      Function *callee = start ? start->body : call->getCalledFunction();
      if (callee && !callee->isDeclaration())
        functions.insert(callee);
    }
  return functions;
}

/// Functions that are not this pass's to change.
void SectorPlanner::findOthers() {
  for (StringRef name : {"mpg_sector_begin", "mpg_sector_begin.if_there"})
    if (Function *begin = module.getFunction(name))
      for (User *user : begin->users())
        if (auto *call = dyn_cast<CallBase>(user))
          withWays.insert(call->getFunction());
  withWays = reachableFrom(withWays);
  for (const ParallelRegion &region : regions)
    inTeams.insert(region.body);
  inTeams = reachableFrom(inTeams);
}

/// Why no nest of \p function is divided; null: some may be.
const char *SectorPlanner::whyNot(const Function &function) const {
  if (const char *reason = whyUntagged(function))
    return reason;
  if (function.hasOptSize())
    return "it is optimised for size";
  return withWays.contains(const_cast<Function *>(&function))
             ? "the source sets the ways of this code"
             : nullptr;
}

static bool hasHints(const Nest &nest) {
  return any_of(nest.arrays, [](const NestArray &array) {
    return any_of(array.accesses, [](const Instruction *access) {
      return readMark(*access).kind != Mark::none;
    });
  });
}

void SectorPlanner::plan(Nest nest, const ParallelRegion *region) {
  Function &function = *nest.loop->getHeader()->getParent();
  Planned one;
  one.nest = std::move(nest);
  one.place.region = region;
  one.place.dominators = &analyses.getResult<DominatorTreeAnalysis>(
      region ? *region->fork->getFunction() : function);
  if (const char *reason = whyNot(function))
    one.nest.reason = reason;
  else if (hasHints(one.nest))
    one.nest.reason = "it has hints of the source or of a side file";
  one.verdict.reason = one.nest.reason;
  planned.push_back(std::move(one));
}

/// The loops whose iterations the threads of a team share.
void SectorPlanner::visitRegion(Function &function,
                                SmallVectorImpl<Nest> &nests) {
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  auto &dominators = analyses.getResult<DominatorTreeAnalysis>(function);
  for (WorksharingLoop &sharing :
       findWorksharingLoops(function, loops, dominators)) {
    size_t wanted = sharing.schedule == LoopSchedule::block ? 1 : 2;
    if (sharing.loops.size() < wanted)
      continue;
    size_t before = nests.size();
    findNests(*sharing.loops[wanted - 1], analyses, nests);
    sharings.insert(sharings.end(), nests.size() - before, sharing);
  }
}

void SectorPlanner::visitFunction(Function &function) {
  SmallVector<const ParallelRegion *, 2> starts;
  for (const ParallelRegion &region : regions)
    if (region.body == &function)
      starts.push_back(&region);
  SmallVector<Nest, 4> nests;
  if (starts.empty()) {
    for (Loop *loop : analyses.getResult<LoopAnalysis>(function))
      findNests(*loop, analyses, nests);
    for (Nest &nest : nests) {
      if (!nest.reason && inTeams.contains(&function))
        nest.reason = "several threads may call its function";
      plan(std::move(nest), nullptr);
    }
    return;
  }
  auto next = sharings.insert(sharings.end(), WorksharingLoop());
  visitRegion(function, nests);
  bool isTaken = false;
  for (Nest &nest : nests) {
    ++next;
    if (!nest.reason && isTaken)
      nest.reason = "another nest of the parallel region is divided";
    isTaken |= !nest.reason;
    for (const ParallelRegion *start : starts) {
      Nest copy = nest;
      if (!copy.reason && (isa<InvokeInst>(start->fork) ||
                           inTeams.contains(start->fork->getFunction())))
        copy.reason = "its parallel region starts in another one";
      plan(std::move(copy), start);
      planned.back().place.sharing = &*next;
    }
  }
}

/// Marks the streams of \p one, which is divided.
static void markStreams(const Nest &nest) {
  for (const NestArray &array : nest.arrays)
    if (array.kind == NestArray::stream)
      for (Instruction *access : array.accesses)
        writeMark(*access, 1);
}

static std::string joinNames(const Nest &nest, NestArray::Kind kind) {
  std::string names;
  unsigned nameless = 0;
  for (const NestArray &array : nest.arrays) {
    if (array.kind != kind)
      continue;
    std::string name = getVariableName(*array.base);
    nameless += name.empty();
    if (!name.empty())
      names += (names.empty() ? "" : ", ") + name;
  }
  if (nameless)
    names += (names.empty() ? "" : " and ") + std::to_string(nameless) +
             (nameless > 1 ? " arrays" : " array");
  return names;
}

static void emitRemark(const Planned &one) {
  const Loop &loop = *one.nest.loop;
  DebugLoc location = userLocation(loop.getStartLoc());
  OptimizationRemarkEmitter emitter(loop.getHeader()->getParent());
  if (const char *reason = one.verdict.reason) {
    emitter.emit(OptimizationRemarkMissed(remarkPass, "SectorSkipped", location,
                                          loop.getHeader())
                 << "the sector cache is not divided for this loop: "
                 << ore::NV("Reason", reason));
    return;
  }
  emitter.emit(
      OptimizationRemark(remarkPass, "SectorAssigned", location,
                         loop.getHeader())
      << "sector 1 gets " << ore::NV("Ways", one.verdict.ways) << " of "
      << ore::NV("AllWays", l2Ways) << " ways of L2 for "
      << ore::NV("Streams", joinNames(one.nest, NestArray::stream))
      << ", used once, beside "
      << ore::NV("Kept", joinNames(one.nest, NestArray::kept))
      << (one.verdict.isAsked ? ", if the sizes fit when it runs" : ""));
}

/// One for each loop of the source, which may have become several: one that is
/// divided speaks for them.
void SectorPlanner::emitRemarks() const {
  RemarkPlaces said;
  SmallPtrSet<const Planned *, 16> speaking;
  for (bool isDivided : {true, false})
    for (const Planned &one : planned) {
      const Loop &loop = *one.nest.loop;
      DebugLoc location = userLocation(loop.getStartLoc());
      if (isDivided == !one.verdict.reason &&
          (isDivided || isUserCode(location)) &&
          said.isNew("Sector", location, *loop.getHeader()))
        speaking.insert(&one);
    }
  for (const Planned &one : planned)
    if (speaking.contains(&one))
      emitRemark(one);
}

static void eraseEmptyMarks(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function)) {
      Mark mark = readMark(instruction);
      if (mark.kind == Mark::one && !mark.tag)
        eraseMark(instruction);
    }
}

bool SectorPlanner::run() {
  findOthers();
  for (Function &function : module)
    if (!function.isDeclaration() && !function.hasOptNone())
      visitFunction(function);
  bool isChanged = false;
  for (Planned &one : planned)
    if (!one.verdict.reason)
      one.verdict = judge(one.nest, one.place);
  emitRemarks();
  for (const Planned &one : planned) {
    if (one.verdict.reason)
      continue;
    markStreams(one.nest);
    writeNest(one.nest, one.place, one.verdict);
    isChanged = true;
  }
  if (isChanged)
    noteThatThereAreMarks(module);
  eraseEmptyMarks(module);
  return isChanged;
}

PreservedAnalyses SectorAutoPass::run(Module &module,
                                      ModuleAnalysisManager &analyses) {
  PassOptions options = loadPassOptions(module);
  if (!options.autoSectors)
    return PreservedAnalyses::all();
  if (const char *reason = whyNoHints(module);
      reason && options.sim == Simulation::off) {
    remarkNoEffect(module, "sector=auto", reason);
    return PreservedAnalyses::all();
  }
  auto &functions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  bool isChanged = SectorPlanner(module, functions).run();
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
