// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sim/SimRecords.h"
#include "base/Scev.h"
#include "sim/SimTable.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include <cassert>

using namespace llvm;
using namespace mpg;

static constexpr unsigned recordBytes = sizeof(mpg_sim_record);

/// A pointer that the runtime has.
static GlobalVariable *makePointer(Module &module, StringRef name,
                                   GlobalValue::ThreadLocalMode mode) {
  if (GlobalVariable *known = module.getNamedGlobal(name))
    return known;
  Type *pointer = PointerType::getUnqual(module.getContext());
  return new GlobalVariable(module, pointer, /*isConstant=*/false,
                            GlobalValue::ExternalLinkage, nullptr, name,
                            nullptr, mode);
}

static GlobalVariable *getCursor(Module &module) {
  return makePointer(module, "mpg_sim_cursor",
                     GlobalValue::InitialExecTLSModel);
}

static GlobalVariable *getSwitch(Module &module) {
  return makePointer(module, "mpg_sim_switch", GlobalValue::NotThreadLocal);
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

/// In the middle of a block. If nothing is recorded there is room that is
/// not read.
static Value *roomFor(Instruction &place, GlobalVariable *cursor,
                      uint64_t count) {
  IRBuilder<> builder(&place);
  return builder.CreateCall(
      place.getModule()->getOrInsertFunction(
          "mpg_sim_room", cursor->getValueType(), builder.getInt64Ty()),
      builder.getInt64(count));
}

/// Makes a block in front of \p terminator with the cursor and room for \p
/// count records after it. The block is skipped while recording is off. \p
/// place becomes the end of that block.
static Value *makeRoomBefore(Instruction &terminator, GlobalVariable *cursor,
                             uint64_t count, Instruction *&place) {
  Module &module = *terminator.getModule();
  Type *pointer = cursor->getValueType();
  BasicBlock *head = terminator.getParent();
  IRBuilder<> builder(&terminator);
  Value *at =
      builder.CreateLoad(pointer, builder.CreateThreadLocalAddress(cursor));
  Value *used =
      builder.CreateAnd(builder.CreatePtrToInt(at, builder.getInt64Ty()),
                        uint64_t(MPG_SIM_CHUNK_BYTES - 1));
  Value *isFull = builder.CreateICmpUGT(
      used, builder.getInt64(MPG_SIM_CHUNK_BYTES - (count + 1) * recordBytes));
  BasicBlock *tail = head->splitBasicBlock(&terminator);
  keepTogether(terminator, *head);
  auto makeBlock = [&] {
    return BasicBlock::Create(module.getContext(), "", head->getParent(), tail);
  };
  BasicBlock *write = makeBlock(), *full = makeBlock(), *next = makeBlock();
  MDNode *rarely = MDBuilder(module.getContext()).createUnlikelyBranchWeights();
  head->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(head);
  builder.CreateCondBr(isFull, full, write, rarely);
  builder.SetInsertPoint(full);
  Value *state = builder.CreateLoad(
      builder.getInt32Ty(), builder.CreateLoad(pointer, getSwitch(module)));
  builder.CreateCondBr(builder.CreateIsNull(state), tail, next);
  builder.SetInsertPoint(next);
  Value *fresh =
      builder.CreateCall(module.getOrInsertFunction("mpg_sim_next", pointer));
  builder.CreateBr(write);
  builder.SetInsertPoint(write);
  PHINode *both = builder.CreatePHI(pointer, 2);
  both->addIncoming(at, head);
  both->addIncoming(fresh, next);
  place = builder.CreateBr(tail);
  return both;
}

/// In the middle of a block the cursor must not move while recording is off.
static Value *cursorAfter(IRBuilder<> &builder, GlobalVariable *cursor,
                          Value *after) {
  Type *pointer = cursor->getValueType();
  Value *now =
      builder.CreateLoad(pointer, builder.CreateThreadLocalAddress(cursor));
  Value *none = builder.CreateIntToPtr(builder.getInt64(MPG_SIM_NO_CHUNK),
                                       cursor->getValueType());
  return builder.CreateSelect(builder.CreateICmpEQ(now, none), now, after);
}

static Value *asNumber(Value &value, IRBuilder<> &builder) {
  Type *number = builder.getInt64Ty();
  return value.getType()->isPointerTy()
             ? builder.CreatePtrToInt(&value, number)
             : builder.CreateSExtOrTrunc(&value, number);
}

static Value *getWord(const SimRecord &record, Value &firstPlace,
                      IRBuilder<> &builder) {
  if (record.isPair)
    return record.second ? asNumber(*record.second, builder)
                         : builder.getInt64(0);
  Value *word = builder.getInt64(uint64_t(record.kind) << MPG_SIM_KIND_SHIFT |
                                 record.more | record.number);
  return record.isPlace ? builder.CreateAdd(&firstPlace, word) : word;
}

void mpg::writeSimRecords(const SimRecords &records, Instruction &place,
                          GlobalVariable &firstPlace) {
  assert(records.size() <= maxSimRecords);
  if (records.empty())
    return;
  GlobalVariable *cursor = getCursor(*place.getModule());
  bool isEnd = place.isTerminator();
  Instruction *end = &place;
  Value *at = isEnd ? makeRoomBefore(place, cursor, records.size(), end)
                    : roomFor(place, cursor, records.size());
  IRBuilder<> builder(end);
  Value *first = builder.CreateLoad(builder.getInt64Ty(), &firstPlace);
  uint64_t offset = 0;
  auto slot = [&](uint64_t bytes) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), at, bytes);
  };
  for (const SimRecord &record : records) {
    Value *value = asNumber(*record.value, builder);
    Value *word = getWord(record, *first, builder);
    // A missing access must end the chunk there if nothing follows.
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
  Value *after = slot(offset);
  if (!isEnd)
    after = cursorAfter(builder, cursor, after);
  builder.CreateStore(after, builder.CreateThreadLocalAddress(cursor));
}

// Bundles

/// For fewer a record each is shorter.
static constexpr size_t minMembers = 3;
/// Addresses further apart than the line of any machine are of no use together.
static constexpr int64_t farthest = 256;
/// The search for a common address is quadratic.
static constexpr size_t maxMembers = 64;

namespace {
/// An address that is written, for those at fixed distances from it.
struct Base {
  const SimRecord *record;
  const SCEV *address; ///< without the record's offset
};
} // namespace

/// The bytes from \p base to \p record, if they are always the same.
static std::optional<int64_t>
distance(const Base &base, const SimRecord &record, ScalarEvolution &scev) {
  if (!base.address || !record.address)
    return std::nullopt;
  std::optional<int64_t> difference =
      smallConstant(scev.getMinusSCEV(record.address, base.address));
  if (!difference)
    return std::nullopt;
  int64_t bytes = *difference + record.offset - base.record->offset;
  return std::abs(bytes) <= farthest ? std::optional(bytes) : std::nullopt;
}

/// The records of \p members as one bundle, if that is shorter.
static void addBundle(ArrayRef<SimRecord> members, SimTable &table,
                      ScalarEvolution &scev, bool checks, SimRecords &result) {
  SmallVector<Base, 16> bases;
  SmallVector<SimTable::Member, 16> offsets;
  for (const SimRecord &record : members) {
    std::optional<int64_t> bytes;
    size_t at = bases.size();
    while (at && !(bytes = distance(bases[at - 1], record, scev)))
      --at;
    if (!bytes)
      bases.push_back({&record, record.address});
    offsets.push_back(
        {unsigned(bytes ? at - 1 : bases.size() - 1), bytes.value_or(0)});
  }
  if (1 + bases.size() / 2 >= members.size()) {
    result.append(members.begin(), members.end());
    return;
  }
  table.addBundle(members[0].number, offsets);
  SimRecord head = *bases[0].record;
  head.kind = MPG_SIM_BUNDLE;
  head.number = members[0].number;
  head.more = uint64_t(members.size()) << MPG_SIM_ACCESSES_SHIFT |
              uint64_t(bases.size()) << MPG_SIM_ADDRESSES_SHIFT;
  result.push_back(head);
  for (size_t at = 1; at < bases.size(); at += 2) {
    SimRecord pair = *bases[at].record;
    pair.isPair = true;
    pair.second = at + 1 < bases.size() ? bases[at + 1].record->value : nullptr;
    result.push_back(pair);
  }
  if (!checks)
    return;
  for (SimRecord record : members) {
    record.kind = MPG_SIM_CHECKED;
    result.push_back(record);
  }
}

/// Whether \p record is an access that is always made, at the place after
/// \p before.
static bool goesOn(const SimRecord &record, const SimRecord &before) {
  return record.kind == MPG_SIM_ACCESS && !record.onlyIf &&
         record.number == before.number + 1;
}

SimRecords mpg::bundleUp(const SimRecords &records, SimTable &table,
                         ScalarEvolution &scev, bool checks) {
  SimRecords result;
  for (size_t begin = 0, end; begin < records.size(); begin = end) {
    const SimRecord &first = records[begin];
    end = begin + 1;
    if (first.kind == MPG_SIM_ACCESS && !first.onlyIf)
      while (end < records.size() && end - begin < maxMembers &&
             goesOn(records[end], records[end - 1]))
        ++end;
    ArrayRef<SimRecord> members(&records[begin], end - begin);
    if (members.size() >= minMembers)
      addBundle(members, table, scev, checks, result);
    else
      result.append(members.begin(), members.end());
  }
  return result;
}
