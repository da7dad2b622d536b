// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WeakCalls.h.

#include "base/WeakCalls.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

Function *mpg::callIfThere(Module &module, StringRef name, FunctionType *type,
                           Constant *absent) {
  std::string localName = (name + ".if_there").str();
  if (Function *there = module.getFunction(localName))
    return there;
  LLVMContext &context = module.getContext();
  auto *target =
      dyn_cast<Function>(module.getOrInsertFunction(name, type).getCallee());
  if (!target || target->getFunctionType() != type)
    return nullptr;
  // A program that calls it directly should get a link error if it is missing.
  if (target->isDeclaration() && target->use_empty())
    target->setLinkage(GlobalValue::ExternalWeakLinkage);
  Function *local =
      Function::Create(type, GlobalValue::InternalLinkage, localName, module);
  local->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", local));
  BasicBlock *call = BasicBlock::Create(context, "", local);
  BasicBlock *skip = BasicBlock::Create(context, "", local);
  builder.CreateCondBr(builder.CreateIsNotNull(target), call, skip);
  builder.SetInsertPoint(call);
  SmallVector<Value *, 6> operands;
  for (Argument &argument : local->args())
    operands.push_back(&argument);
  Value *result = builder.CreateCall(type, target, operands);
  if (absent)
    builder.CreateRet(result);
  else
    builder.CreateRetVoid();
  builder.SetInsertPoint(skip);
  absent ? builder.CreateRet(absent) : builder.CreateRetVoid();
  return local;
}
