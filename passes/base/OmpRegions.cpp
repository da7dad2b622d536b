// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OmpRegions.h.

#include "base/OmpRegions.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

// Regions

/// void __kmpc_fork_call(loc, argc, body, ...), and the same with `if`:
/// void __kmpc_fork_call_if(loc, argc, body, condition, args).
static constexpr char forkName[] = "__kmpc_fork_call";
static constexpr char forkIfName[] = "__kmpc_fork_call_if";
static constexpr unsigned forkBody = 2;

Value *mpg::forkOperand(const CallBase &fork, unsigned firstOperand,
                        unsigned parameter) {
  if (parameter < 2)
    return nullptr;
  unsigned operand = firstOperand + parameter - 2;
  return operand < fork.arg_size() ? fork.getArgOperand(operand) : nullptr;
}

Value *ParallelRegion::operandFor(unsigned parameter) const {
  return forkOperand(*fork, firstOperand, parameter);
}

/// Instructions that are looked at in front of a call.
static constexpr unsigned maxBefore = 10000;

/// The instruction that has always run just before \p at; null if several paths
/// lead there.
static const Instruction *before(const Instruction &at) {
  if (at.getPrevNode())
    return at.getPrevNode();
  const BasicBlock *block = at.getParent()->getSinglePredecessor();
  return block ? block->getTerminator() : nullptr;
}

/// void __kmpc_push_num_threads(loc, thread, threads) comes before its fork;
/// the branch of an `if` may be between them.
static Value *pushedThreads(const CallBase &fork) {
  const Instruction *at = before(fork);
  for (unsigned i = 0; at && i < maxBefore; ++i, at = before(*at)) {
    auto *call = dyn_cast<CallBase>(at);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (!callee)
      continue;
    if (callee->getName() == "__kmpc_push_num_threads")
      return call->getArgOperand(2);
    if (callee->getName().starts_with(forkName))
      return nullptr;
  }
  return nullptr;
}

/// Clang writes `if` as a branch: to the fork, or to a call of the body.
static bool isCalledDirectly(const Function &body) {
  return any_of(body.users(), [&](const User *user) {
    auto *call = dyn_cast<CallBase>(user);
    return call && call->getCalledFunction() == &body;
  });
}

std::optional<RegionStart> mpg::findStart(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee || !callee->getName().starts_with(forkName))
    return std::nullopt;
  bool hasIf = callee->getName() == forkIfName;
  unsigned firstOperand = forkBody + 1 + hasIf;
  if ((!hasIf && callee->getName() != forkName) ||
      call.arg_size() < firstOperand)
    return std::nullopt;
  auto *body =
      dyn_cast<Function>(call.getArgOperand(forkBody)->stripPointerCasts());
  if (!body)
    return std::nullopt;
  return RegionStart{body, firstOperand, hasIf};
}

SmallVector<ParallelRegion, 8> mpg::findRegions(Module &module) {
  SmallVector<ParallelRegion, 8> regions;
  for (Function &function : module) {
    for (Instruction &instruction : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&instruction);
      std::optional<RegionStart> start = call ? findStart(*call) : std::nullopt;
      if (start && !start->body->isDeclaration())
        regions.push_back({call, start->body, start->firstOperand,
                           pushedThreads(*call),
                           start->hasIf || isCalledDirectly(*start->body)});
    }
  }
  return regions;
}

bool mpg::usesOpenMp(const Module &module) {
  return module.getFunction(forkName) || module.getFunction(forkIfName);
}

// Worksharing loops

/// libomp's numbers, without the bits for monotonic and nonmonotonic.
enum ScheduleNumber : unsigned {
  staticChunked = 33,
  staticBlock = 34,
  dynamicChunked = 35,
  guidedChunked = 36,
  runtimeSchedule = 37,
  autoSchedule = 38,
  scheduleBits = (1u << 29) - 1
};

const char *WorksharingLoop::name() const {
  switch (scheduleNumber) {
  case staticBlock:
    return "static";
  case staticChunked:
    return "static, chunk";
  case dynamicChunked:
    return "dynamic";
  case guidedChunked:
    return "guided";
  case runtimeSchedule:
    return "runtime";
  case autoSchedule:
    return "auto";
  default:
    return "ordered or other";
  }
}

/// What \p variable holds before \p call: the store in front of it.
static Value *valueBefore(const Value *variable, const CallBase &call) {
  const Instruction *at = before(call);
  for (unsigned i = 0; at && i < maxBefore; ++i, at = before(*at))
    if (auto *store = dyn_cast<StoreInst>(at))
      if (store->getPointerOperand() == variable)
        return const_cast<Value *>(store->getValueOperand());
  return nullptr;
}

static unsigned readScheduleNumber(const CallBase &init, unsigned operand) {
  auto *number = dyn_cast<ConstantInt>(init.getArgOperand(operand));
  return number ? unsigned(number->getZExtValue()) & scheduleBits : 0;
}

/// (loc, thread, schedule, &last, &lower, &upper, &stride, increment, chunk)
static WorksharingLoop staticLoop(CallBase &init) {
  WorksharingLoop found;
  found.init = &init;
  found.scheduleNumber = readScheduleNumber(init, 2);
  found.schedule = found.scheduleNumber == staticBlock ? LoopSchedule::block
                   : found.scheduleNumber == staticChunked
                       ? LoopSchedule::chunk
                       : LoopSchedule::other;
  if (found.schedule == LoopSchedule::chunk)
    found.chunk = init.getArgOperand(8);
  found.lower = init.getArgOperand(4);
  found.upper = init.getArgOperand(5);
  found.last = valueBefore(found.upper, init);
  return found;
}

/// (loc, thread, schedule, lower, upper, stride, chunk); the next (loc, thread,
/// &last, &lower, &upper, &stride) after it fetches its iterations.
static WorksharingLoop dispatchLoop(CallBase &init, CallBase &next) {
  WorksharingLoop found;
  found.init = &init;
  found.scheduleNumber = readScheduleNumber(init, 2);
  found.lower = next.getArgOperand(3);
  found.upper = next.getArgOperand(4);
  found.begin = init.getArgOperand(3);
  found.last = init.getArgOperand(4);
  return found;
}

static SmallVector<CallBase *, 4>
findCalls(Function &function, StringRef prefix, unsigned operands) {
  SmallVector<CallBase *, 4> calls;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName().starts_with(prefix) &&
        call->arg_size() == operands)
      calls.push_back(call);
  }
  return calls;
}

static SmallVector<WorksharingLoop, 4> findInits(Function &function) {
  SmallVector<WorksharingLoop, 4> found;
  for (CallBase *init : findCalls(function, "__kmpc_for_static_init_", 9))
    found.push_back(staticLoop(*init));
  // Only their order connects the two calls of a dynamic loop.
  auto inits = findCalls(function, "__kmpc_dispatch_init_", 7);
  auto nexts = findCalls(function, "__kmpc_dispatch_next_", 6);
  SmallPtrSet<Value *, 4> taken;
  for (CallBase *init : inits)
    for (CallBase *next : nexts)
      if (taken.insert(next->getArgOperand(3)).second) {
        found.push_back(dispatchLoop(*init, *next));
        break;
      }
  return found;
}

/// Outermost loops around \p block that do not contain \p init, outermost
/// first.
static SmallVector<Loop *, 4> loopsWithin(const BasicBlock *block,
                                          const LoopInfo &loops,
                                          const Instruction &init) {
  SmallVector<Loop *, 4> found;
  for (Loop *loop = loops.getLoopFor(block); loop && !loop->contains(&init);
       loop = loop->getParentLoop())
    found.insert(found.begin(), loop);
  return found;
}

/// With chunks, and where chunks are fetched one at a time, the outer loop runs
/// over chunks and the inner one over iterations.
static void addLoop(Loop &loop, WorksharingLoop &sharing,
                    const LoopInfo &loops) {
  size_t wanted = sharing.schedule == LoopSchedule::block ? 1 : 2;
  size_t around = loopsWithin(loop.getHeader(), loops, *sharing.init).size();
  if (around == sharing.loops.size() + 1 && around <= wanted)
    sharing.loops.push_back(&loop);
}

/// The one of \p candidates that began last in front of \p instruction.
static const WorksharingLoop *findNearest(const Instruction &instruction,
                                          ArrayRef<WorksharingLoop> candidates,
                                          const DominatorTree &dominators) {
  const WorksharingLoop *nearest = nullptr;
  for (const WorksharingLoop &candidate : candidates)
    if (dominators.dominates(candidate.init, &instruction) &&
        (!nearest || dominators.dominates(nearest->init, candidate.init)))
      nearest = &candidate;
  return nearest;
}

SmallVector<WorksharingLoop, 4>
mpg::findWorksharingLoops(Function &function, const LoopInfo &loops,
                          const DominatorTree &dominators) {
  SmallVector<WorksharingLoop, 4> found = findInits(function);
  if (found.empty())
    return found;
  for (CallBase *end : findCalls(function, "__kmpc_for_static_fini", 2))
    if (auto *owner = findNearest(*end, found, dominators))
      found[size_t(owner - found.data())].ends.push_back(end);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    const Instruction &first = loop->getHeader()->front();
    if (auto *owner = findWorksharingLoop(first, found, dominators))
      addLoop(*loop, found[size_t(owner - found.data())], loops);
  }
  return found;
}

const WorksharingLoop *
mpg::findWorksharingLoop(const Instruction &instruction,
                         ArrayRef<WorksharingLoop> candidates,
                         const DominatorTree &dominators) {
  const WorksharingLoop *nearest =
      findNearest(instruction, candidates, dominators);
  bool hasEnded = nearest && any_of(nearest->ends, [&](const CallBase *end) {
                    return dominators.dominates(end, &instruction);
                  });
  return hasEnded ? nullptr : nearest;
}
