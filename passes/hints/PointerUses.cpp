// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PointerUses.h.

#include "hints/PointerUses.h"
#include "base/OmpRegions.h"
#include "hints/HintSource.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mpg;

bool mpg::isDebugBody(const Function &function) {
  return function.getName().contains(".omp_outlined_debug__");
}

Function *mpg::findParallelRegion(const CallBase &call) {
  Function *callee = call.getCalledFunction();
  // With -g the function that a thread starts calls another with the body.
  if (callee && isDebugBody(*callee))
    return callee;
  // With an if clause flang hands over a structure, which is not followed.
  std::optional<RegionStart> start = findStart(call);
  return start && !start->hasIf ? start->body : nullptr;
}

SmallSetVector<Function *, 4> mpg::functionWithRegions(Function &function) {
  SmallSetVector<Function *, 4> functions;
  functions.insert(&function);
  for (unsigned next = 0; next < functions.size(); ++next)
    for (Instruction &instruction : instructions(*functions[next]))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *region = findParallelRegion(*call))
          if (!region->isDeclaration())
            functions.insert(region);
  return functions;
}

void PointerUses::addPlace(Value *place) { places.insert(place); }
void PointerUses::addData(Value *pointer) {
  data.insert(pointer);
  roots.insert(pointer);
}

/// Whether \p user is its first operand, as far as addresses go: the variable
/// of this thread, or a field with another tool's annotation.
static bool isSameAddress(const User *user) {
  auto *call = dyn_cast<IntrinsicInst>(user);
  return call && (call->getIntrinsicID() == Intrinsic::threadlocal_address ||
                  call->getIntrinsicID() == Intrinsic::ptr_annotation ||
                  call->isLaunderOrStripInvariantGroup());
}

/// A local variable that only loads and stores can reach.
bool PointerUses::isLocal(const AllocaInst &variable) const {
  if (others.contains(&variable))
    return false;
  return all_of(variable.uses(), [](const Use &use) {
    auto *store = dyn_cast<StoreInst>(use.getUser());
    if (store)
      return use.getOperandNo() == store->getPointerOperandIndex();
    auto *call = dyn_cast<IntrinsicInst>(use.getUser());
    return isa<LoadInst>(use.getUser()) ||
           (call &&
            (call->isLifetimeStartOrEnd() || call->isAssumeLikeIntrinsic()));
  });
}

void PointerUses::enterParallelRegion(CallBase &call, const Use &argument,
                                      bool isPlace) {
  Function *region = findParallelRegion(call);
  if (!region || region->isDeclaration() || !call.isArgOperand(&argument))
    return;
  unsigned number = call.getArgOperandNo(&argument);
  if (call.getCalledFunction() != region) {
    // Two pointers to thread numbers precede the arguments.
    unsigned firstOperand = findStart(call)->firstOperand;
    if (number < firstOperand)
      return;
    number += 2 - firstOperand;
  }
  if (number >= region->arg_size())
    return;
  enteredBy[region] = &call;
  (isPlace ? places : data).insert(region->getArg(number));
}

/// Whether \p copy is a local variable that only one memcpy writes to.
static bool isCopiedOnce(const Value *copy) {
  return isa<AllocaInst>(copy) &&
         count_if(copy->users(), [&](const User *user) {
           auto *call = dyn_cast<MemCpyInst>(user);
           return call && call->getRawDest() == copy;
         }) == 1;
}

/// Whether \p memory is that of a new OpenMP task.
static bool isTask(const Value *memory) {
  auto *call = dyn_cast<CallBase>(getUnderlyingObject(memory));
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with("__kmpc_omp_") &&
         callee->getName().ends_with("task_alloc");
}

/// Whether \p store hands its value to an OpenMP task: by the task's own copies
/// of variables, or by a structure that is copied to the task.
static bool isForTask(const StoreInst &store) {
  const Value *to = getUnderlyingObject(store.getPointerOperand());
  return isTask(to) ||
         (isa<AllocaInst>(to) && any_of(to->users(), [&](auto *user) {
            auto *copy = dyn_cast<MemCpyInst>(user);
            auto *shareds =
                copy ? dyn_cast<LoadInst>(copy->getRawDest()) : nullptr;
            return shareds && copy->getRawSource() == to &&
                   isTask(shareds->getPointerOperand());
          }));
}

void PointerUses::missInTask(StoreInst &store) {
  if (isForTask(store))
    missed.push_back({&store, Untaggable::inTask});
}

void PointerUses::followPlace(Value *place) {
  for (Use &use : place->uses()) {
    User *user = use.getUser();
    if (auto *load = dyn_cast<LoadInst>(user)) {
      // A C++ reference to a pointer is another level: clang marks loads of
      // references as not null.
      bool isReference = load->hasMetadata(LLVMContext::MD_nonnull) &&
                         findTarget(load) == HintRequest::pointerVariable;
      if (load->getType()->isPointerTy())
        (isReference ? places : data).insert(load);
    } else if (auto *store = dyn_cast<StoreInst>(user)) {
      auto *copy = dyn_cast<AllocaInst>(store->getPointerOperand());
      if (use.get() == store->getValueOperand())
        missInTask(*store);
      if (use.get() == store->getValueOperand() && copy && isLocal(*copy) &&
          placeCopies.insert(copy).second)
        for (User *reader : copy->users())
          if (isa<LoadInst>(reader))
            places.insert(reader);
    } else if (auto *gep = dyn_cast<GEPOperator>(user)) {
      // The first member of a descriptor.
      if (gep->hasAllZeroIndices())
        places.insert(gep);
    } else if (auto *copy = dyn_cast<MemCpyInst>(user)) {
      // Descriptors are copied whole.
      if (use.get() == copy->getRawSource() && isCopiedOnce(copy->getRawDest()))
        places.insert(copy->getRawDest());
    } else if (isSameAddress(user)) {
      places.insert(user);
    } else if (auto *call = dyn_cast<CallBase>(user)) {
      enterParallelRegion(*call, use, /*isPlace=*/true);
    }
  }
}

/// A hinted pointer is copied into a local variable: its loads may be it.
void PointerUses::followStore(StoreInst &store) {
  auto *copy = dyn_cast<AllocaInst>(store.getPointerOperand());
  if (!copy || !isLocal(*copy))
    return;
  for (User *reader : copy->users())
    if (auto *load = dyn_cast<LoadInst>(reader))
      // As an integer when it is handed to an OpenMP region by value.
      if (load->getType()->isPointerTy() || load->getType()->isIntegerTy(64))
        data.insert(load);
}

void PointerUses::followData(Value *pointer) {
  for (Use &use : pointer->uses()) {
    User *user = use.getUser();
    if (auto *store = dyn_cast<StoreInst>(user)) {
      if (use.getOperandNo() != store->getPointerOperandIndex()) {
        missInTask(*store);
        followStore(*store);
      }
    } else if (auto *gep = dyn_cast<GEPOperator>(user)) {
      if (use.getOperandNo() == gep->getPointerOperandIndex())
        data.insert(gep);
    } else if (isa<PHINode, SelectInst, FreezeInst, BitCastInst>(user) ||
               isSameAddress(user)) {
      data.insert(user);
    } else if (auto *call = dyn_cast<CallBase>(user)) {
      enterParallelRegion(*call, use, /*isPlace=*/false);
    }
  }
}

/// Whether all that \p value can be is hinted data, where values come together.
bool PointerUses::isOnlyData(Value *value) const {
  auto isData = [&](Value *incoming) {
    return isa<ConstantPointerNull, UndefValue>(incoming) ||
           data.contains(incoming);
  };
  if (auto *phi = dyn_cast<PHINode>(value))
    return all_of(phi->incoming_values(), isData);
  if (auto *select = dyn_cast<SelectInst>(value))
    return isData(select->getTrueValue()) && isData(select->getFalseValue());
  auto *load = dyn_cast<LoadInst>(value);
  if (!load || places.contains(load->getPointerOperand()))
    return true;
  for (User *user : load->getPointerOperand()->users())
    if (auto *store = dyn_cast<StoreInst>(user))
      if (!isData(store->getValueOperand()))
        return false;
  return true;
}

/// Takes out what may also be something else, and all that is computed from it.
void PointerUses::removeMerges() {
  SmallVector<Value *, 8> removed;
  do {
    removed.clear();
    for (Value *value : data)
      if (!roots.contains(value) && !isOnlyData(value))
        removed.push_back(value);
    for (unsigned next = 0; next < removed.size(); ++next) {
      data.remove(removed[next]);
      for (User *user : removed[next]->users())
        if (isa<GEPOperator, FreezeInst, BitCastInst>(user) &&
            !roots.contains(user) && data.contains(user) &&
            !is_contained(removed, user))
          removed.push_back(user);
    }
    merged.insert(removed.begin(), removed.end());
  } while (!removed.empty());
}

void PointerUses::collectAccesses() {
  DenseSet<Instruction *> seen;
  for (Value *pointer : data)
    for (Use &use : pointer->uses()) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      if (!user || data.contains(user))
        continue;
      Untaggable code = classifyUse(use);
      if (auto *call = dyn_cast<CallBase>(user))
        if (findParallelRegion(*call))
          continue;
      if (code == Untaggable::no) {
        if (seen.insert(user).second)
          accesses.push_back(user);
      } else if (code != Untaggable::notAnAccess &&
                 !(code == Untaggable::escapes && isa<StoreInst>(user))) {
        missed.push_back({user, code});
      }
    }
  for (Value *pointer : merged)
    for (Use &use : pointer->uses())
      if (auto *user = dyn_cast<Instruction>(use.getUser());
          user && classifyUse(use) == Untaggable::no)
        missed.push_back({user, Untaggable::merges});
}

void PointerUses::run() {
  // Both grow while they are walked.
  for (unsigned place = 0, pointer = 0;
       place < places.size() || pointer < data.size();) {
    if (place < places.size())
      followPlace(places[place++]);
    else
      followData(data[pointer++]);
  }
  removeMerges();
  collectAccesses();
}

const Instruction *PointerUses::seenFrom(const Function &from,
                                         const Instruction &instruction) const {
  const Instruction *at = &instruction;
  // Regions nest, but not endlessly.
  for (unsigned depth = 0; at && at->getFunction() != &from && depth < 16;
       ++depth)
    at = enteredBy.lookup(at->getFunction());
  return at;
}
