// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gathers the facts about an array from three sides (its uses in worksharing
// loops, serial writes, calls that free or resize it), judges them, and
// reports. All arrays are judged before the code is changed.

#include "base/Access.h"
#include "base/PassOptions.h"
#include "hints/FirstTouchChoice.h"
#include "openmp/ArrayVerdict.h"
#include "openmp/IterationRanges.h"
#include "openmp/OpenmpPasses.h"
#include "openmp/ParallelInit.h"
#include "openmp/SerialInit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

namespace {

class FirstTouchWork {
public:
  FirstTouchWork(Module &module, FunctionAnalysisManager &analyses,
                 FirstTouch mode)
      : mode(mode), module(module), analyses(analyses),
        regions(findRegions(module)), frames(module, regions),
        sampler(module, analyses, frames), parallel(regions, sampler) {}

  /// Returns whether the module was changed.
  bool run();

private:
  void collectStories();
  bool isOffByParameter(const ParallelUse &use);
  void addStory(const ParallelUse &use);
  void addCalls();
  bool isLeftAlone(const ArrayStory &story);
  bool isTooEarly(const Instruction &place, const CallFrame *frame);
  std::string whyNoTeam(const ArrayStory &story, const ArrayVerdict &verdict);
  Repair repair(const ArrayStory &story, ArrayVerdict &verdict);
  std::string makeParallel(const SerialWrite &init, const ParallelUse &use);
  void reportRows(const SerialRows &rows, ArrayRemarks &remarks);
  void reportMembers(ArrayRef<JudgedArray> arrays, ArrayRemarks &remarks);

  FirstTouch mode;
  Module &module;
  FunctionAnalysisManager &analyses;
  SmallVector<ParallelRegion, 8> regions;
  CallFrames frames;
  Sampler sampler;
  ParallelUses parallel;
  std::vector<SerialWrite> writes;
  /// Keyed by origin: one wrapper of malloc gives several arrays.
  using Key = std::pair<const Value *, const CallBase *>;
  static Key getKey(const MemoryObject &object);
  MapVector<Key, ArrayStory> stories;
  DenseSet<const CallBase *> repaired; ///< calls whose memory is placed now
  DenseSet<const BasicBlock *> parallelised; ///< blocks of such loops
};

} // namespace

FirstTouchWork::Key FirstTouchWork::getKey(const MemoryObject &object) {
  std::optional<ArraySource> source = findSource(object);
  return {object.origin, source ? source->site : nullptr};
}

/// Whether the array comes through a parameter that is to be left alone.
bool FirstTouchWork::isOffByParameter(const ParallelUse &use) {
  for (const CallFrame *frame = use.frame; frame; frame = frame->outer)
    for (const Argument &parameter : frame->callee->args()) {
      if (choiceFor(parameter) != TouchChoice::off)
        continue;
      Value *operand = frame->operandFor(parameter);
      EvalContext context;
      context.frame = frame->outer;
      if (operand &&
          sampler.getPlace(sampler.evaluate(operand, context)).object ==
              use.object)
        return true;
    }
  return false;
}

void FirstTouchWork::addStory(const ParallelUse &use) {
  if (choiceFor(*use.region->fork) == TouchChoice::off || isOffByParameter(use))
    return;
  auto [entry, isNew] = stories.insert({getKey(*use.object), ArrayStory()});
  ArrayStory &story = entry->second;
  if (isNew)
    if (auto source = findSource(*use.object))
      story.source = *source;
  story.uses.push_back(&use);
}

/// Whether \p at is in a loop of its function.
static bool isLooped(const Instruction &at, FunctionAnalysisManager &analyses) {
  Function &function = *const_cast<Function *>(at.getFunction());
  return analyses.getResult<LoopAnalysis>(function).getLoopFor(at.getParent());
}

/// Whether a loop allocates \p source again and again, and \p free, reached by
/// \p path, gives it back there.
static bool isRecycledBy(const ArraySource &source, const Instruction &free,
                         const CallFrame *path,
                         FunctionAnalysisManager &analyses) {
  if (!source.site)
    return false;
  Function &function = *source.site->getFunction();
  const Loop *loop = analyses.getResult<LoopAnalysis>(function).getLoopFor(
      source.site->getParent());
  if (loop && loop->contains(&free))
    return true;
  // In the same function, which is called in a loop.
  if (path != source.siteFrame || free.getFunction() != &function)
    return false;
  for (; path; path = path->outer)
    if (isLooped(*path->call, analyses))
      return true;
  return false;
}

/// Memory that the program, or an earlier run of this pass, places itself.
static Value *placedBy(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return callee && callee->getName().starts_with("mpg_first_touch")
             ? call.getArgOperand(0)
             : nullptr;
}

/// The other changes for the arrays.
void FirstTouchWork::addCalls() {
  for (Function &function : module)
    for (Instruction &at : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&at);
      Value *freed = call ? freedBy(*call) : nullptr;
      Value *resized = call ? reallocatedBy(*call) : nullptr;
      Value *placed = call ? placedBy(*call) : nullptr;
      Value *pointer = freed ? freed : resized ? resized : placed;
      if (!pointer)
        continue;
      for (const CallFrame *path : frames.callPathsTo(function)) {
        EvalContext context;
        context.frame = path;
        int64_t address = sampler.evaluate(pointer, context);
        const MemoryObject *object = sampler.getPlace(address).object;
        auto *story = object ? stories.find(getKey(*object)) : stories.end();
        if (story == stories.end())
          continue;
        story->second.isResized |= resized != nullptr;
        story->second.isPlaced |= placed != nullptr;
        story->second.isRecycled |=
            freed && isRecycledBy(story->second.source, at, path, analyses);
      }
    }
}

/// The call paths on which \p story's array is touched, and those that lead
/// there.
static DenseSet<const CallFrame *> touching(const ArrayStory &story,
                                            Sampler &sampler) {
  DenseSet<const CallFrame *> paths;
  auto add = [&](const CallFrame *path) {
    for (; path; path = path->outer)
      paths.insert(path);
  };
  for (const SerialWrite *write : story.writes)
    if (isLarge(*write, sampler))
      add(write->frame);
  for (const ParallelUse *use : story.uses)
    add(use->frame);
  return paths;
}

void FirstTouchWork::collectStories() {
  for (const ParallelUse &use : parallel.uses)
    addStory(use);
  DenseSet<const Value *> origins;
  for (auto &[key, story] : stories)
    origins.insert(key.first);
  if (origins.empty())
    return;
  writes = findSerialWrites(origins, sampler);
  for (const SerialWrite &write : writes) {
    auto *story = stories.find(getKey(*write.object));
    if (story != stories.end())
      story->second.writes.push_back(&write);
  }
  addCalls();
  for (auto &[key, story] : stories)
    findFresh(story.source, touching(story, sampler));
}

static TouchChoice getChoice(const ArraySource &source) {
  return source.global ? choiceFor(*source.global) : choiceFor(*source.site);
}

bool FirstTouchWork::isLeftAlone(const ArrayStory &story) {
  const ArraySource &source = story.source;
  if (!source.global && !source.site)
    return true;
  if (source.site && frames.isParallel(*source.site->getFunction()))
    return true;
  if (story.isPlaced || getChoice(source) == TouchChoice::off)
    return true;
  std::optional<int64_t> known = knownBytes(source, sampler);
  return known && *known < minPlacedBytes;
}

/// Returns "" when done; else why not, and the code is as it was.
std::string FirstTouchWork::makeParallel(const SerialWrite &init,
                                         const ParallelUse &use) {
  // The numbers of the loop's share must exist in front of it: constants.
  LoopShare share{use.sharing->chunk, use.region->threads};
  if ((share.chunk && !isa<ConstantInt>(share.chunk)) ||
      (share.threads && !isa<ConstantInt>(share.threads)))
    return "the other loop's chunks or threads are not constant";
  // The same loop may initialise several arrays.
  if (parallelised.count(init.at->getParent()))
    return "";
  if (auto *memset = dyn_cast<MemSetInst>(init.at)) {
    int64_t step = use.constantStep().value_or(0);
    if (step <= 0)
      return "the other loop's bytes per iteration are not constant";
    Type *type = Type::getInt64Ty(module.getContext());
    return parallelise(*memset, *ConstantInt::get(type, uint64_t(step)), share,
                       analyses);
  }
  Loop *loop = writingLoop(init, sampler);
  if (!loop)
    return "it is not written by a loop";
  SmallVector<const BasicBlock *, 4> blocks(loop->blocks());
  std::string obstacle = parallelise(*loop, share, analyses);
  if (obstacle.empty())
    parallelised.insert(blocks.begin(), blocks.end());
  return obstacle;
}

/// Whether \p callee decides about threads that libomp has not started yet.
static bool preparesThreads(const Function &callee) {
  static constexpr StringLiteral names[] = {"setenv",
                                            "putenv",
                                            "unsetenv",
                                            "clearenv",
                                            "sched_setaffinity",
                                            "pthread_setaffinity_np"};
  return is_contained(names, callee.getName()) ||
         callee.getName().starts_with("kmp_set_");
}

/// The call of mpg_first_touch starts libomp, which reads the environment and
/// the affinity then: the program must have set both.
bool FirstTouchWork::isTooEarly(const Instruction &place,
                                const CallFrame *frame) {
  for (Function &function : module) {
    if (!preparesThreads(function))
      continue;
    for (const User *user : function.users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (!call)
        return true;
      for (const CallFrame *path :
           frames.callPathsTo(*const_cast<Function *>(call->getFunction())))
        if (findOrder(*call, path, place, frame, analyses) != Order::always)
          return true;
    }
  }
  return false;
}

/// Whether \p function may interrupt any other: no team may be started there.
static bool mayBeHandler(const Function &function) {
  const Module &module = *function.getParent();
  return (module.getFunction("signal") || module.getFunction("sigaction")) &&
         function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/true);
}

/// Why no team can be started where \p story's array is allocated, or, global,
/// written; "" if one can.
std::string FirstTouchWork::whyNoTeam(const ArrayStory &story,
                                      const ArrayVerdict &verdict) {
  const Instruction *place = story.source.fresh;
  const CallFrame *frame = story.source.freshFrame;
  if (!place) {
    place = verdict.init ? verdict.init->at : verdict.best->at;
    frame = verdict.init ? verdict.init->frame : verdict.best->frame;
  }
  std::vector<const Function *> functions = {place->getFunction()};
  for (const CallFrame *outer = frame; outer; outer = outer->outer)
    functions.push_back(outer->call->getFunction());
  auto isAny = [&](bool (*question)(const Function &)) {
    return any_of(functions,
                  [&](const Function *one) { return question(*one); });
  };
  if (isAny(mayBeHandler))
    return "its function may be a signal handler";
  if (isAny(isConstructor))
    return "its function runs before main";
  if (isTooEarly(*place, frame))
    return "the program sets the environment or the affinity of its threads "
           "later";
  return "";
}

Repair FirstTouchWork::repair(const ArrayStory &story, ArrayVerdict &verdict) {
  if (mode == FirstTouch::remark || !verdict.isSerial)
    return Repair::none;
  if (!verdict.teamObstacle.empty()) {
    verdict.obstacle = verdict.teamObstacle;
    return Repair::none;
  }
  if (mode == FirstTouch::parallelInit && verdict.init && !verdict.isInPart) {
    verdict.serialReason = makeParallel(*verdict.init, *verdict.best);
    if (verdict.serialReason.empty())
      return Repair::parallelInit;
  }
  if (!verdict.obstacle.empty())
    return Repair::none;
  // One call for all arrays from that origin.
  const CallBase *fresh = story.source.fresh;
  if (fresh && repaired.count(fresh))
    return Repair::call;
  FirstTouchCall call(story.source, *verdict.best, verdict.init, story.writes,
                      sampler);
  if (!call.insert())
    return Repair::none;
  repaired.insert(fresh);
  return Repair::call;
}

void FirstTouchWork::reportRows(const SerialRows &rows, ArrayRemarks &remarks) {
  auto *story = stories.find(getKey(*rows.use->object));
  if (story != stories.end() && !story->second.isPlaced &&
      getChoice(story->second.source) != TouchChoice::off)
    remarks.report(story->second, rows);
}

/// Skips arrays already reported through their allocation.
void FirstTouchWork::reportMembers(ArrayRef<JudgedArray> arrays,
                                   ArrayRemarks &remarks) {
  DenseSet<const Instruction *> told;
  for (auto &[story, verdict] : arrays)
    if (verdict.isSerial || verdict.notBlock)
      for (const ParallelUse *use : story->uses)
        told.insert(use->at);
  for (const SerialMember &member : findSerialMembers(parallel, sampler))
    if (!told.count(member.use.at) &&
        choiceFor(*member.init) != TouchChoice::off &&
        choiceFor(*member.use.region->fork) != TouchChoice::off)
      remarks.report(member, mode != FirstTouch::remark);
}

bool FirstTouchWork::run() {
  collectStories();
  std::vector<JudgedArray> arrays;
  for (auto &[key, story] : stories) {
    if (isLeftAlone(story))
      continue;
    story.isWanted = getChoice(story.source) == TouchChoice::on;
    arrays.push_back({&story, judge(story, parallel, sampler)});
    ArrayVerdict &verdict = arrays.back().verdict;
    if (verdict.isSerial)
      verdict.teamObstacle = whyNoTeam(story, verdict);
  }
  settleSharedSites(arrays, frames);
  bool isChanged = false;
  ArrayRemarks remarks;
  // Before the code is changed.
  for (const SerialRows &rows : findSerialRows(parallel.uses, sampler))
    reportRows(rows, remarks);
  reportMembers(arrays, remarks);
  for (auto &[story, verdict] : arrays) {
    if (verdict.isAgain)
      continue;
    Repair done = repair(*story, verdict);
    isChanged |= done != Repair::none;
    remarks.report(*story, verdict, done, mode != FirstTouch::remark);
  }
  return isChanged;
}

PreservedAnalyses FirstTouchPass::run(Module &module,
                                      ModuleAnalysisManager &analyses) {
  FirstTouch mode = loadPassOptions(module).firstTouch;
  if (mode == FirstTouch::off || !usesOpenMp(module) || !isLinux64(module))
    return PreservedAnalyses::all();
  auto &ofFunctions =
      analyses.getResult<FunctionAnalysisManagerModuleProxy>(module)
          .getManager();
  bool isChanged = FirstTouchWork(module, ofFunctions, mode).run();
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
