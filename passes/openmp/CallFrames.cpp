// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CallFrames.h.

#include "openmp/CallFrames.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace mpg;

Value *CallFrame::operandFor(const Argument &parameter) const {
  unsigned number = parameter.getArgNo();
  if (firstOperand)
    return forkOperand(*call, firstOperand, number);
  return number < call->arg_size() ? call->getArgOperand(number) : nullptr;
}

const CallFrame *mpg::findFrame(const Function &function,
                                const CallFrame *path) {
  while (path && path->callee != &function)
    path = path->outer;
  return path;
}

Function *mpg::findCallee(const CallBase &call) {
  Value *called = call.getCalledOperand();
  auto *alias = dyn_cast<GlobalAlias>(called);
  if (alias && !alias->isInterposable())
    called = alias->getAliaseeObject();
  auto *function = dyn_cast_or_null<Function>(called);
  bool fits = function && function->getFunctionType() == call.getFunctionType();
  return fits ? function : nullptr;
}

CallFrames::CallFrames(Module &module, ArrayRef<ParallelRegion> regions) {
  for (const ParallelRegion &region : regions)
    callers[region.body].push_back({region.fork, region.firstOperand});
  auto addCalls = [&](GlobalValue &name) {
    for (User *user : name.users())
      if (auto *call = dyn_cast<CallBase>(user))
        if (Function *callee = findCallee(*call);
            callee && call->getCalledOperand() == &name)
          callers[callee].push_back({call, 0});
  };
  // Clang also calls a region's body directly to run it serially.
  for (Function &function : module)
    if (!callers.count(&function))
      addCalls(function);
  for (GlobalAlias &alias : module.aliases())
    addCalls(alias);
}

static unsigned countDepth(const CallFrame *frame) {
  unsigned depth = 0;
  for (; frame; frame = frame->outer)
    ++depth;
  return depth;
}

const CallFrame *CallFrames::frame(const Caller &caller, Function &callee,
                                   const CallFrame *outer) {
  const CallFrame *&slot = known[{caller.call, outer}];
  if (!slot) {
    frames.push_back({caller.call, &callee, caller.firstOperand, outer});
    slot = &frames.back();
  }
  return slot;
}

const CallFrame *CallFrames::enter(CallBase &call, Function &callee,
                                   const CallFrame *outer) {
  if (countDepth(outer) >= 2 * maxDepth)
    return nullptr;
  return frame({&call, 0}, callee, outer);
}

/// Whether there may be callers that are not seen: of other modules, or through
/// a pointer. No code calls main.
static bool isCalledUnseen(const Function &function) {
  return function.getName() != "main" && function.getName() != "_QQmain" &&
         (!function.hasLocalLinkage() ||
          function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/true));
}

void CallFrames::findPaths(Function &function, unsigned depth,
                           SmallVectorImpl<const Caller *> &calls,
                           SmallVectorImpl<Function *> &callees,
                           CallPaths &into) {
  auto known = callers.find(&function);
  bool isEnd = known == callers.end() || depth == maxDepth ||
               is_contained(callees, &function);
  if (isEnd || isCalledUnseen(function)) {
    const CallFrame *path = nullptr;
    for (size_t i = calls.size(); i-- > 0;)
      path = frame(*calls[i], *callees[i], path);
    if (!is_contained(into, path))
      into.push_back(path);
    if (isEnd)
      return;
  }
  callees.push_back(&function);
  for (const Caller &caller : known->second) {
    if (into.size() >= maxPaths)
      break;
    calls.push_back(&caller);
    findPaths(*caller.call->getFunction(), depth + 1, calls, callees, into);
    calls.pop_back();
  }
  callees.pop_back();
}

SmallVector<const CallFrame *, 2> CallFrames::callPathsTo(Function &function) {
  auto known = paths.find(&function);
  if (known != paths.end())
    return known->second;
  SmallVector<const Caller *, maxDepth> calls;
  SmallVector<Function *, maxDepth> callees;
  CallPaths found;
  findPaths(function, 0, calls, callees, found);
  return paths[&function] = found;
}

SmallVector<const CallFrame *, 2>
CallFrames::callPathsOfCallers(Function &function) {
  CallPaths found;
  auto known = callers.find(&function);
  if (known == callers.end())
    return found;
  for (const Caller &caller : known->second)
    for (const CallFrame *outer : callPathsTo(*caller.call->getFunction()))
      if (countDepth(outer) < 2 * maxDepth)
        found.push_back(frame(caller, function, outer));
  return found;
}

/// Whether the only users of \p function are calls, and \p forks of a region.
static bool isOnlyCalled(const Function &function,
                         const SmallPtrSetImpl<const User *> &forks) {
  return function.hasLocalLinkage() && all_of(function.uses(), [&](auto &use) {
           auto *call = dyn_cast<CallBase>(use.getUser());
           return call && (call->isCallee(&use) || forks.count(call));
         });
}

bool CallFrames::isParallel(Function &function) {
  auto [entry, isNew] = parallel.try_emplace(&function, false);
  if (!isNew)
    return entry->second;
  auto known = callers.find(&function);
  if (known == callers.end())
    return false;
  SmallPtrSet<const User *, 4> forks;
  bool all = true;
  for (const Caller &caller : known->second)
    if (caller.firstOperand)
      forks.insert(caller.call);
    else
      all = all && isParallel(*caller.call->getFunction());
  return parallel[&function] = all && isOnlyCalled(function, forks);
}

bool CallFrames::isInTeam(const CallFrame *path) {
  for (; path; path = path->outer)
    if (path->firstOperand || isParallel(*path->callee))
      return true;
  return false;
}
