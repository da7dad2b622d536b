// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size of the last cache, as the program knows it.

#include "stream/Stream.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mpg;

/// Of glibc, and what counts where it does not know.
static constexpr int level3CacheSize = 194; // _SC_LEVEL3_CACHE_SIZE
static constexpr uint64_t usualCacheBytes = 32 << 20;

/// Asks the C library when the program starts.
static void addCacheQuestion(Module &module, GlobalVariable &bytes) {
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  auto *ask = Function::Create(FunctionType::get(builder.getVoidTy(), false),
                               GlobalValue::LinkOnceODRLinkage,
                               "mpg_stream_ask", module);
  ask->setVisibility(GlobalValue::HiddenVisibility);
  ask->setComdat(bytes.getComdat());
  ask->addFnAttr(Attribute::NoUnwind);
  builder.SetInsertPoint(BasicBlock::Create(context, "", ask));
  FunctionCallee sysconf = module.getOrInsertFunction(
      "sysconf", builder.getInt64Ty(), builder.getInt32Ty());
  Value *size = builder.CreateCall(sysconf, builder.getInt32(level3CacheSize));
  Value *isKnown = builder.CreateICmpSGT(size, builder.getInt64(0));
  builder.CreateStore(
      builder.CreateSelect(isKnown, size, builder.getInt64(usualCacheBytes)),
      &bytes);
  builder.CreateRetVoid();
  appendToGlobalCtors(module, ask, 0, &bytes);
}

GlobalVariable *mpg::getLastCache(Module &module) {
  static constexpr char name[] = "mpg_stream_cache";
  if (GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  Type *number = Type::getInt64Ty(module.getContext());
  auto *bytes = new GlobalVariable(
      module, number, /*isConstant=*/false, GlobalValue::LinkOnceODRLinkage,
      ConstantInt::get(number, uint64_t(INT64_MAX)), name);
  bytes->setVisibility(GlobalValue::HiddenVisibility);
  bytes->setComdat(module.getOrInsertComdat(name));
  addCacheQuestion(module, *bytes);
  return bytes;
}
