// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DebugRecords.h.

#include "DebugRecords.h"
#include "mpg/hints.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace mpg;

static SmallVector<DbgVariableRecord *, 4> recordsOf(Value &value) {
  SmallVector<DbgVariableRecord *, 4> records;
#if LLVM_VERSION_MAJOR >= 20
  findDbgUsers(&value, records);
#else
  SmallVector<DbgVariableIntrinsic *, 1> calls; // of old bitcode
  findDbgUsers(calls, &value, &records);
#endif
  return records;
}

void DebugRecords::add(Value &old, Instruction &twin, bool isBase) {
  for (DbgVariableRecord *record : recordsOf(old))
    if (record->isDbgValue() && record->getNumVariableLocationOps() == 1)
      kept.push_back({record, record->getExpression(), &old, &twin, isBase});
}

void DebugRecords::add(Instruction &old, Instruction &twin) {
  add(old, twin, /*isBase=*/false);
}

void DebugRecords::addBase(Value &base, Instruction &tagged) {
  if (!isa<Constant>(base)) // of which everything is known everywhere
    add(base, tagged, /*isBase=*/true);
}

/// How many records each variable of \p function has.
static DenseMap<DebugVariable, unsigned> countRecords(Function &function) {
  DenseMap<DebugVariable, unsigned> counts;
  for (Instruction &instruction : instructions(function))
    for (DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange()))
      ++counts[DebugVariable(&record)];
  return counts;
}

/// Whether nothing but the tag needs \p base: it is in no register behind it.
static bool isOnlyTagged(const Value &base) {
  return all_of(base.users(),
                [](const User *user) { return isa<PtrToIntInst>(user); });
}

void DebugRecords::move(const Kept &one) const {
  constexpr uint64_t withoutTag[] = {dwarf::DW_OP_constu,
                                     (uint64_t(1) << MPG_TAG_SHIFT) - 1,
                                     dwarf::DW_OP_and};
  one.record->setRawLocation(ValueAsMetadata::get(one.twin));
  one.record->setExpression(DIExpression::appendOpsToArg(
      one.expression, withoutTag, 0, /*StackValue=*/true));
}

void DebugRecords::follow(const DominatorTree &dominators) {
  if (kept.empty())
    return;
  DenseMap<DebugVariable, unsigned> counts =
      countRecords(*kept.front().twin->getFunction());
  DenseSet<const DbgVariableRecord *> moved;
  for (Kept &one : kept) {
    const Instruction *place = one.record->getInstruction();
    Value *old = one.old;
    if (!place || (old && !(one.isBase && isOnlyTagged(*old))) ||
        moved.contains(one.record))
      continue;
    if (dominators.dominates(one.twin, place)) {
      moved.insert(one.record);
      move(one);
    } else if (counts.lookup(DebugVariable(one.record)) == 1 &&
               dominators.dominates(place, one.twin)) {
      // A variable that never changes: from the tag on it is the tagged one.
      Kept behind = one;
      behind.record = one.record->clone();
      one.twin->getParent()->insertDbgRecordAfter(behind.record, one.twin);
      move(behind);
    }
  }
}
