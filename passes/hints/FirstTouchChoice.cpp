// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "hints/FirstTouchChoice.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral attributeName = "mpg-first-touch";
static constexpr StringLiteral mallocName = "mpg-first-touch-malloc";
static constexpr StringLiteral touchMetadata = "mpg.touch";

static StringRef wordOf(TouchChoice choice) {
  return choice == TouchChoice::off ? "off" : "on";
}

static TouchChoice choiceNamed(StringRef word) {
  return word == "off"  ? TouchChoice::off
         : word == "on" ? TouchChoice::on
                        : TouchChoice::none;
}

static TouchChoice choiceOf(Attribute attribute) {
  return attribute.isValid() ? choiceNamed(attribute.getValueAsString())
                             : TouchChoice::none;
}

static Attribute attributeOf(LLVMContext &context, TouchChoice choice) {
  return Attribute::get(context, attributeName, wordOf(choice));
}

/// What was said for the variable at \p address.
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

TouchChoice mpg::ownChoice(const CallBase &allocation) {
  return choiceOf(allocation.getAttributes().getFnAttr(attributeName));
}

void mpg::noteMallocOff(Function &function) { function.addFnAttr(mallocName); }

bool mpg::hasMallocOff(const Function &function) {
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
  return choiceOf(global.getAttribute(attributeName));
}

TouchChoice mpg::choiceFor(const Argument &argument) {
  return choiceOf(argument.getParent()->getAttributes().getParamAttr(
      argument.getArgNo(), attributeName));
}

TouchChoice mpg::choiceFor(const Function &function) {
  return choiceOf(function.getFnAttribute(attributeName));
}

void mpg::setChoice(CallBase &allocation, TouchChoice choice) {
  allocation.addFnAttr(attributeOf(allocation.getContext(), choice));
}

void mpg::setChoice(AllocaInst &variable, TouchChoice choice) {
  LLVMContext &context = variable.getContext();
  variable.setMetadata(
      touchMetadata,
      MDNode::get(context, MDString::get(context, wordOf(choice))));
}

void mpg::setChoice(GlobalVariable &global, TouchChoice choice) {
  global.addAttribute(attributeName, wordOf(choice));
}

void mpg::setChoice(Argument &argument, TouchChoice choice) {
  argument.getParent()->addParamAttr(
      argument.getArgNo(), attributeOf(argument.getContext(), choice));
}

void mpg::setChoice(Function &function, TouchChoice choice) {
  function.addFnAttr(attributeName, wordOf(choice));
}
