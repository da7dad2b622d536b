// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DebugRecords.h.

#include "tags/DebugRecords.h"
#include "mpg/hints.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/CFG.h"
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
#if LLVM_VERSION_MAJOR >= 22
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

/// Whether anything but another tag needs \p value behind \p place. What only
/// tags need is in no register of its own there.
static bool isNeededBehind(const Instruction &place, const Value &value,
                           const DominatorTree &dominators) {
  return any_of(value.users(), [&](const User *user) {
    auto *use = cast<Instruction>(user);
    return !isa<PtrToIntInst>(use) && !dominators.dominates(use, &place) &&
           isPotentiallyReachable(&place, use, nullptr, &dominators);
  });
}

/// Whether \p record is still what its variable, which has \p count records,
/// has last at \p twin.
static bool holdsAt(const DbgVariableRecord &record, const Instruction &twin,
                    unsigned count, const DominatorTree &dominators) {
  const Instruction *place = record.getInstruction();
  if (place->getParent() != twin.getParent())
    return count == 1 && dominators.dominates(place, &twin);
  if (place != &twin && !place->comesBefore(&twin))
    return false;
  // The last one in front of the twin.
  const DbgVariableRecord *last = nullptr;
  for (const Instruction *at = place;; at = at->getNextNode()) {
    for (DbgVariableRecord &other : filterDbgVars(at->getDbgRecordRange()))
      if (DebugVariable(&other) == DebugVariable(&record))
        last = &other;
    if (at == &twin)
      return last == &record;
  }
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
    if (!place || moved.contains(one.record) || (old && !one.isBase))
      continue;
    bool isBehind = dominators.dominates(one.twin, place);
    const Instruction &from = isBehind ? *place : *one.twin;
    if (old && isNeededBehind(from, *old, dominators))
      continue;
    if (isBehind) {
      if (old && !isNeededBehind(*place, *one.twin, dominators))
        continue;
      moved.insert(one.record);
      move(one);
    } else if (holdsAt(*one.record, *one.twin,
                       counts.lookup(DebugVariable(one.record)), dominators)) {
      // The variable has not changed: from the tag on it is the tagged one.
      Kept behind = one;
      behind.record = one.record->clone();
      one.twin->getParent()->insertDbgRecordAfter(behind.record, one.twin);
      move(behind);
    }
  }
}
