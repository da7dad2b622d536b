// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim/SimRecords.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include <cassert>

using namespace llvm;
using namespace mpg;

static constexpr unsigned recordBytes = sizeof(mpg_sim_record);

static GlobalVariable *cursorOf(Module &module) {
  StringRef name = "mpg_sim_cursor";
  if (GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  Type *pointer = PointerType::getUnqual(module.getContext());
  return new GlobalVariable(module, pointer, /*isConstant=*/false,
                            GlobalValue::ExternalLinkage, nullptr, name,
                            nullptr, GlobalValue::InitialExecTLSModel);
}

/// A comparison that only \p terminator uses goes along with it into the next
/// block: the code generator makes one instruction of both.
static void keepTogether(Instruction &terminator, BasicBlock &head) {
  auto *branch = dyn_cast<BranchInst>(&terminator);
  if (!branch || !branch->isConditional())
    return;
  auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
  if (compare && compare->hasOneUse() && compare->getParent() == &head)
    compare->moveBefore(*terminator.getParent(), terminator.getIterator());
}

/// The cursor, when there is room for \p count records behind it.
static Value *cursorWithRoom(Instruction &place, GlobalVariable *cursor,
                             uint64_t count) {
  Module &module = *place.getModule();
  Type *pointer = cursor->getValueType();
  IRBuilder<> builder(&place);
  if (!place.isTerminator())
    return builder.CreateCall(module.getOrInsertFunction("mpg_sim_room",
                                                         pointer,
                                                         builder.getInt64Ty()),
                              builder.getInt64(count));
  BasicBlock &head = *place.getParent();
  Value *at =
      builder.CreateLoad(pointer, builder.CreateThreadLocalAddress(cursor));
  Value *used =
      builder.CreateAnd(builder.CreatePtrToInt(at, builder.getInt64Ty()),
                        uint64_t(MPG_SIM_CHUNK_BYTES - 1));
  Value *isFull = builder.CreateICmpUGT(
      used, builder.getInt64(MPG_SIM_CHUNK_BYTES - (count + 1) * recordBytes));
  MDNode *rarely = MDBuilder(module.getContext()).createUnlikelyBranchWeights();
  Instruction *then =
      SplitBlockAndInsertIfThen(isFull, &place, /*Unreachable=*/false, rarely);
  keepTogether(place, head);
  builder.SetInsertPoint(then);
  Value *next =
      builder.CreateCall(module.getOrInsertFunction("mpg_sim_next", pointer));
  builder.SetInsertPoint(place.getParent(), place.getParent()->begin());
  PHINode *both = builder.CreatePHI(pointer, 2);
  both->addIncoming(at, &head);
  both->addIncoming(next, then->getParent());
  return both;
}

void mpg::writeSimRecords(const SimRecords &records, Instruction &place,
                          GlobalVariable &firstPlace) {
  assert(records.size() <= mostSimRecords);
  if (records.empty())
    return;
  GlobalVariable *cursor = cursorOf(*place.getModule());
  Value *at = cursorWithRoom(place, cursor, records.size());
  IRBuilder<> builder(&place);
  Value *first = builder.CreateLoad(builder.getInt64Ty(), &firstPlace);
  uint64_t offset = 0;
  auto slot = [&](uint64_t bytes) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), at, bytes);
  };
  for (const SimRecord &record : records) {
    Value *value =
        record.value->getType()->isPointerTy()
            ? builder.CreatePtrToInt(record.value, builder.getInt64Ty())
            : builder.CreateSExtOrTrunc(record.value, builder.getInt64Ty());
    Value *word = builder.getInt64(uint64_t(record.kind) << MPG_SIM_KIND_SHIFT |
                                   record.number);
    if (record.isPlace)
      word = builder.CreateAdd(first, word);
    // What is not accessed must end the chunk there, if nothing follows.
    if (record.onlyIf)
      word = builder.CreateSelect(record.onlyIf, word, builder.getInt64(0));
    builder.CreateAlignedStore(value, slot(offset), Align(8));
    builder.CreateAlignedStore(word, slot(offset + 8), Align(8));
    offset += recordBytes;
    if (record.onlyIf) {
      Value *end = slot(offset), *begin = slot(offset - recordBytes);
      at = builder.CreateSelect(record.onlyIf, end, begin);
      offset = 0;
    }
  }
  builder.CreateStore(slot(offset), builder.CreateThreadLocalAddress(cursor));
}
