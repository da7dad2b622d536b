// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which records of variables follow the computation with a tag, and which stay
// with the old one: a record is moved only where the old value is in no
// register any more. See AddressTagger.h.

#include "base/Diagnostics.h"
#include "mpg/hints.h"
#include "tags/AddressTagger.h"
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

void DebugRecords::add(Value &old, Instruction &twin, bool isBase) {
  for (DbgVariableRecord *record : findDebugRecords(old))
    if (record->isDbgValue() && record->getNumVariableLocationOps() == 1)
      kept.push_back({record, record->getExpression(), &old, &twin, isBase});
}

void DebugRecords::add(Instruction &old, Instruction &twin) {
  add(old, twin, /*isBase=*/false);
}

void DebugRecords::addBase(Value &base, Instruction &tagged) {
  if (auto *constant = dyn_cast<Constant>(&base))
    constants[constant].push_back(&tagged);
  else
    add(base, tagged, /*isBase=*/true);
}

/// Code generation knows where a global variable is in those blocks only that
/// use it.
static bool isUsedIn(const BasicBlock &block, const Constant &constant) {
  return any_of(block, [&](const Instruction &instruction) {
    return is_contained(instruction.operands(), &constant);
  });
}

/// Adds the records of tagged constants in blocks that use only the tags.
void DebugRecords::addConstants(Function &function) {
  DenseMap<std::pair<const BasicBlock *, const Constant *>, bool> used;
  for (Instruction &instruction : instructions(function))
    for (DbgVariableRecord &record :
         filterDbgVars(instruction.getDbgRecordRange())) {
      if (!record.isDbgValue() || record.getNumVariableLocationOps() != 1)
        continue;
      auto *constant =
          dyn_cast_or_null<Constant>(record.getVariableLocationOp(0));
      auto *tagged = constants.find(constant);
      if (!constant || tagged == constants.end())
        continue;
      const BasicBlock *block = instruction.getParent();
      auto [place, isNew] = used.try_emplace({block, constant}, false);
      if (isNew)
        place->second = isUsedIn(*block, *constant);
      if (!place->second)
        for (Instruction *one : tagged->second)
          kept.push_back({&record, record.getExpression(), nullptr, one, true});
    }
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

/// Whether anything except another tag uses \p value after \p place. A value
/// used only by tags has no register of its own there.
static bool isNeededAfter(const Instruction &place, const Value &value,
                          const DominatorTree &dominators) {
  return any_of(value.users(), [&](const User *user) {
    auto *use = cast<Instruction>(user);
    return !isa<PtrToIntInst>(use) && !dominators.dominates(use, &place) &&
           isPotentiallyReachable(&place, use, nullptr, &dominators);
  });
}

namespace {
/// How often code of inlined calls uses a value, or an address that is computed
/// from it, and does not only put a tag on it.
class InlinedUses {
public:
  unsigned count(const Value &value, const DILocation *call) {
    auto [place, isNew] = calls.try_emplace(&value);
    if (isNew)
      add(value, place->second, 0);
    return place->second.lookup(call);
  }

private:
  using Calls = DenseMap<const DILocation *, unsigned>;

  static void add(const Value &value, Calls &into, unsigned depth) {
    for (const User *user : value.users()) {
      auto *use = cast<Instruction>(user);
      if (isa<PtrToIntInst>(use))
        continue;
      for (const DILocation *at = use->getDebugLoc(); at;
           at = at->getInlinedAt())
        ++into[at->getInlinedAt()];
      if (depth < 3 && isa<GetElementPtrInst>(use))
        add(*use, into, depth + 1);
    }
  }

  DenseMap<const Value *, Calls> calls;
};
} // namespace

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

/// The twins that records of inlined functions should be about: of those whose
/// code uses twins and not the old value, the one that it uses most. The code
/// may be a single load: before and after that the old value may be in no
/// register.
DebugRecords::Twins DebugRecords::bestTwins() const {
  InlinedUses uses;
  Twins best;
  for (const Kept &one : kept) {
    const DILocation *call = one.record->getDebugLoc()->getInlinedAt();
    Value *old = one.old;
    if (!call || !old || uses.count(*old, call) || !uses.count(*one.twin, call))
      continue;
    const Instruction *&twin = best[one.record];
    if (!twin || uses.count(*one.twin, call) > uses.count(*twin, call))
      twin = one.twin;
  }
  return best;
}

void DebugRecords::follow(const DominatorTree &dominators) {
  if (!constants.empty())
    addConstants(*constants.front().second.front()->getFunction());
  if (kept.empty())
    return;
  DenseMap<DebugVariable, unsigned> counts =
      countRecords(*kept.front().twin->getFunction());
  DenseSet<const DbgVariableRecord *> moved;
  Twins best = bestTwins();
  for (Kept &one : kept) {
    const Instruction *place = one.record->getInstruction();
    Value *old = one.old;
    if (!place || moved.contains(one.record))
      continue;
    bool isBehind = dominators.dominates(one.twin, place);
    bool isOnly = old && best.lookup(one.record) == one.twin;
    const Instruction &from = isBehind ? *place : *one.twin;
    if (old && !isOnly &&
        (!one.isBase || isNeededAfter(from, *old, dominators)))
      continue;
    if (isBehind) {
      if (!isOnly && one.isBase &&
          !isNeededAfter(*place, *one.twin, dominators))
        continue;
      moved.insert(one.record);
      move(one);
    } else if (holdsAt(*one.record, *one.twin,
                       counts.lookup(DebugVariable(one.record)), dominators)) {
      // The variable has not changed: from the tag on it is the tagged one.
      Kept after = one;
      after.record = one.record->clone();
      one.twin->getParent()->insertDbgRecordAfter(after.record, one.twin);
      move(after);
    }
  }
}
