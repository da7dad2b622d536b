// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FirstTouchChoice.h.

#include "hints/FirstTouchChoice.h"
#include "hints/PointerUses.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral attributeName = "mpg-first-touch";
static constexpr StringLiteral mallocName = "mpg-first-touch-malloc";
static constexpr StringLiteral touchMetadata = "mpg.touch";

static StringRef getWord(TouchChoice choice) {
  return choice == TouchChoice::off ? "off" : "on";
}

static TouchChoice choiceNamed(StringRef word) {
  return word == "off"  ? TouchChoice::off
         : word == "on" ? TouchChoice::on
                        : TouchChoice::none;
}

static TouchChoice getChoice(Attribute attribute) {
  return attribute.isValid() ? choiceNamed(attribute.getValueAsString())
                             : TouchChoice::none;
}

static Attribute makeAttribute(LLVMContext &context, TouchChoice choice) {
  return Attribute::get(context, attributeName, getWord(choice));
}

/// The user's choice for the variable at \p address.
static TouchChoice choiceOfVariable(const Value *address) {
  if (auto *global = dyn_cast<GlobalVariable>(address))
    return choiceFor(*global);
  auto *variable = dyn_cast<AllocaInst>(address);
  MDNode *node = variable ? variable->getMetadata(touchMetadata) : nullptr;
  auto *word = node && node->getNumOperands()
                   ? dyn_cast<MDString>(node->getOperand(0))
                   : nullptr;
  return word ? choiceNamed(word->getString()) : TouchChoice::none;
}

/// The user's choice for the call \p allocation itself.
static TouchChoice ownChoice(const CallBase &allocation) {
  return getChoice(allocation.getAttributes().getFnAttr(attributeName));
}

/// Notes that malloc in \p function allocates memory with the choice off: LLVM
/// turns a malloc and a memset into a new call of calloc.
static void noteMallocOff(Function &function) {
  function.addFnAttr(mallocName);
}

static bool hasMallocOff(const Function &function) {
  return function.hasFnAttribute(mallocName);
}

TouchChoice mpg::choiceFor(const Instruction &allocation) {
  auto *call = dyn_cast<CallBase>(&allocation);
  if (call && ownChoice(*call) != TouchChoice::none)
    return ownChoice(*call);
  // The call was in a wrapper that is inlined now.
  for (const User *user : allocation.users()) {
    auto *store = dyn_cast<StoreInst>(user);
    if (!store || store->getValueOperand() != &allocation)
      continue;
    TouchChoice choice =
        choiceOfVariable(store->getPointerOperand()->stripPointerCasts());
    if (choice != TouchChoice::none)
      return choice;
  }
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  if (callee && choiceFor(*callee) != TouchChoice::none)
    return choiceFor(*callee);
  return choiceFor(*allocation.getFunction());
}

TouchChoice mpg::choiceFor(const GlobalVariable &global) {
  return getChoice(global.getAttribute(attributeName));
}

TouchChoice mpg::choiceFor(const Argument &argument) {
  return getChoice(argument.getParent()->getAttributes().getParamAttr(
      argument.getArgNo(), attributeName));
}

TouchChoice mpg::choiceFor(const Function &function) {
  return getChoice(function.getFnAttribute(attributeName));
}

void mpg::setChoice(CallBase &allocation, TouchChoice choice) {
  allocation.addFnAttr(makeAttribute(allocation.getContext(), choice));
}

void mpg::setChoice(AllocaInst &variable, TouchChoice choice) {
  LLVMContext &context = variable.getContext();
  variable.setMetadata(
      touchMetadata,
      MDNode::get(context, MDString::get(context, getWord(choice))));
}

void mpg::setChoice(GlobalVariable &global, TouchChoice choice) {
  global.addAttribute(attributeName, getWord(choice));
}

void mpg::setChoice(Argument &argument, TouchChoice choice) {
  argument.getParent()->addParamAttr(
      argument.getArgNo(), makeAttribute(argument.getContext(), choice));
}

void mpg::setChoice(Function &function, TouchChoice choice) {
  function.addFnAttr(attributeName, getWord(choice));
}

/// Whether \p call can allocate memory for its caller.
static bool canAllocate(const CallBase &call) {
  const Function *callee = call.getCalledFunction();
  return !isa<IntrinsicInst>(call) && !call.isInlineAsm() &&
         !(callee && callee->getName().starts_with("__kmpc_"));
}

/// Whether \p call is one of the C library's function \p name.
static bool isCallTo(const CallBase &call, StringRef name) {
  const Function *callee = call.getCalledFunction();
  return callee && callee->getName() == name;
}

namespace {
/// Marks all that one pointer variable gets.
class VariableMarker {
public:
  explicit VariableMarker(TouchChoice choice) : choice(choice) {}
  void followPlace(Value *place);

  bool isSet = false;   ///< something is stored in it
  bool isFound = false; ///< some of that may be an allocation

private:
  void followUse(Value *place, User *user);
  void followValue(Value *value);
  void mark(CallBase &call);

  TouchChoice choice;
  SmallPtrSet<Value *, 8> seen;
};
} // namespace

void VariableMarker::mark(CallBase &call) {
  if (!canAllocate(call))
    return;
  isFound = true;
  // Two variables get it: what must not be touched stays untouched.
  if (ownChoice(call) != TouchChoice::off)
    setChoice(call, choice);
  if (choice == TouchChoice::off && isCallTo(call, "malloc"))
    noteMallocOff(*call.getFunction());
}

void VariableMarker::followValue(Value *value) {
  value = value->stripPointerCasts();
  if (!seen.insert(value).second)
    return;
  if (auto *call = dyn_cast<CallBase>(value)) {
    mark(*call);
  } else if (auto *argument = dyn_cast<Argument>(value)) {
    isFound = true;
    setChoice(*argument, choice);
  } else if (auto *gep = dyn_cast<GEPOperator>(value)) {
    followValue(gep->getPointerOperand()); // after the count of new[]
  } else if (auto *phi = dyn_cast<PHINode>(value)) {
    for (Value *incoming : phi->incoming_values())
      followValue(incoming);
  } else if (auto *select = dyn_cast<SelectInst>(value)) {
    followValue(select->getTrueValue());
    followValue(select->getFalseValue());
  } else if (auto *insert = dyn_cast<InsertValueInst>(value)) {
    // A Fortran descriptor: the pointer is its first member.
    bool isPointer = insert->getNumIndices() == 1 && !insert->getIndices()[0];
    followValue(isPointer ? insert->getInsertedValueOperand()
                          : insert->getAggregateOperand());
  } else if (auto *load = dyn_cast<LoadInst>(value)) {
    if (auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand()))
      followPlace(variable);
  }
}

void VariableMarker::followUse(Value *place, User *user) {
  if (auto *store = dyn_cast<StoreInst>(user)) {
    if (store->getPointerOperand() != place)
      return;
    isSet |= !isa<ConstantData, ConstantAggregate>(store->getValueOperand());
    followValue(store->getValueOperand());
  } else if (auto *copy = dyn_cast<MemCpyInst>(user)) {
    // Flang copies whole descriptors.
    Value *from = copy->getRawSource();
    if (copy->getRawDest() == place && isa<AllocaInst>(from))
      followPlace(from);
  } else if (auto *gep = dyn_cast<GEPOperator>(user)) {
    if (gep->hasAllZeroIndices())
      followPlace(gep);
  } else if (auto *call = dyn_cast<CallBase>(user)) {
    mark(*call);
  }
}

void VariableMarker::followPlace(Value *place) {
  if (!seen.insert(place).second)
    return;
  for (User *user : place->users())
    followUse(place, user);
}

/// Gives the calls in \p function without their own choice that of the
/// function, which may be inlined into another one.
static void markCalls(Function &function) {
  TouchChoice choice = choiceFor(function);
  if (choice == TouchChoice::none)
    return;
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (call && canAllocate(*call) && !call->getType()->isVoidTy() &&
        ownChoice(*call) == TouchChoice::none)
      setChoice(*call, choice);
  }
}

/// Sets off for the calls of calloc in \p function without a choice: one of
/// them was a malloc.
static void markCallocs(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (call && isCallTo(*call, "calloc") &&
        ownChoice(*call) == TouchChoice::none)
      setChoice(*call, TouchChoice::off);
  }
}

static void markFunction(Function &function, TouchChoice choice) {
  for (Function *inner : functionWithRegions(function)) {
    setChoice(*inner, choice);
    markCalls(*inner);
  }
}

/// Marks the array at \p root. Returns why it cannot be, "" if it was.
static StringRef markArray(Value *root, TouchChoice choice) {
  if (isa<AllocaInst>(root))
    return "this array is on the stack, which first touch does not place";
  if (auto *argument = dyn_cast<Argument>(root)) {
    setChoice(*argument, choice);
    return "";
  }
  auto *global = dyn_cast<GlobalVariable>(root);
  if (!global)
    return "this array is a part of something else; put it in front of the "
           "pointer to that, or of the function that allocates it";
  setChoice(*global, choice);
  return "";
}

/// As markArray, for the pointer variable at \p root.
static StringRef markPointer(Value *root, TouchChoice choice) {
  VariableMarker marker(choice);
  auto *variable = dyn_cast<AllocaInst>(root);
  if (variable)
    setChoice(*variable, choice);
  else if (auto *global = dyn_cast<GlobalVariable>(root))
    setChoice(*global, choice);
  else if (auto *argument = dyn_cast<Argument>(root))
    setChoice(*argument, choice);
  marker.followPlace(root);
  // Others may be set elsewhere.
  if (variable && marker.isSet && !marker.isFound)
    return "no allocation is stored in this pointer; put it in front of the "
           "variable that holds the allocation";
  return "";
}

/// \p root may be an address that the reader of annotations has made for a
/// field: nothing must be left of it in code that has no other hint.
static void eraseField(Value *root, const HintRequests &requests) {
  auto *gep = dyn_cast<GetElementPtrInst>(root);
  bool isHinted = any_of(requests.hints, [&](const HintRequest &request) {
    return request.root == root;
  });
  if (!gep || !gep->hasAllZeroIndices() || isHinted)
    return;
  gep->replaceAllUsesWith(gep->getPointerOperand());
  gep->eraseFromParent();
}

bool mpg::markTouches(Module &module, const HintRequests &requests) {
  // Once for each place in the source: a field is used in many.
  StringSet<> told;
  // Variables first: a choice for a variable is stronger.
  for (const TouchRequest &request : requests.touches) {
    if (request.target == HintRequest::function)
      continue;
    StringRef wrong = request.target == HintRequest::pointerVariable
                          ? markPointer(request.root, request.choice)
                          : markArray(request.root, request.choice);
    if (!wrong.empty() && told.insert(request.where.text()).second)
      warn(module.getContext(), request.where, "touch is ignored: " + wrong);
  }
  for (const TouchRequest &request : requests.touches)
    if (request.target == HintRequest::function)
      markFunction(*cast<Function>(request.root), request.choice);
  SmallSetVector<Value *, 8> roots;
  for (const TouchRequest &request : requests.touches)
    roots.insert(request.root);
  for (Value *root : roots)
    eraseField(root, requests);
  return !requests.touches.empty();
}

PreservedAnalyses TouchKeeperPass::run(Function &function,
                                       FunctionAnalysisManager &) {
  if (hasMallocOff(function))
    markCallocs(function);
  markCalls(function);
  return PreservedAnalyses::all();
}
