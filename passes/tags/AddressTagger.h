// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts tags on the addresses of one function: finds the base of each address,
// where the tag can be put on outside of the loop, and repeats the computation
// of the address after it. And keeps what debuggers know of the old ones.

#pragma once

#include "base/LLVM.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ValueHandle.h"
#include <cstdint>

namespace mpg {

/// The order in which a value lists its users. Loop strength reduction follows
/// it, and takes the first of several solutions with the same cost. So if the
/// repeated computation had another position in the list than the old one,
/// loops would change.
class UseOrder {
public:
  /// Remembers the users of \p old, which is going to be repeated, and of its
  /// operands.
  void keep(Value &old);

  /// \p twin, an instruction, repeats \p old.
  void addTwin(Value &old, Value &twin);

  /// Afterwards: puts each twin in the place of what it repeats.
  void restore();

private:
  /// The places of the users in a list.
  using Places = DenseMap<const Value *, unsigned>;

  void keepList(Value &value);
  void restoreList(Value &value, const Places &places) const;

  struct List {
    WeakVH value;
    Places places;
  };
  DenseMap<const Value *, List> lists;
  DenseMap<const Value *, const Value *> originals;
  SmallVector<std::pair<const Value *, Value *>, 16> twins;
};

class AddressTagger {
public:
  AddressTagger(DominatorTree &dominators, LoopInfo &loops, bool formGep)
      : dominators(dominators), loops(loops), formGep(formGep) {}

  /// Plans a tag for \p address, the operand of an access. Returns nullptr, or
  /// the reason why the tag would cost instructions in the innermost loop; then
  /// nothing changes for it.
  const char *plan(Use &address, uint8_t tag);

  /// Changes the function. Returns the tagged bases (the inttoptr).
  SmallVector<Instruction *, 8> write();

private:
  /// A pointer that gets one tag in one place.
  using Base = std::pair<Value *, unsigned>;
  struct Planned {
    Use *address;
    uint8_t tag;
    SmallVector<Value *, 2> bases;
  };

  const char *findBases(Value *pointer, const Loop *loop,
                        SmallSetVector<Value *, 4> &path,
                        SmallVectorImpl<Value *> &bases);
  const char *checkBase(Value *base, const Instruction &access);
  Instruction *anchor(Value *base, Instruction *access);
  Instruction *findPlace(Value *base, ArrayRef<Instruction *> accesses);
  Instruction *writeTag(Value *base, uint8_t tag, Instruction *place);
  Value *retag(Value *pointer, uint8_t tag, const Loop *loop);
  Instruction *repeatStep(GEPOperator &old, Instruction *base);
  void deleteOld(SmallVectorImpl<WeakTrackingVH> &values);
  void numberInstructions();
  bool isBefore(const Instruction *first, const Instruction *second) const;

  DominatorTree &dominators;
  LoopInfo &loops;
  bool formGep;
  SmallVector<Planned, 16> planned;
  /// The tag of each base, and the tagged twins of what is computed from it for
  /// the accesses of a loop.
  MapVector<Base, Value *> baseTags;
  MapVector<std::pair<Base, const Loop *>, Value *> twins;
  /// Positions of instructions, old and new ones. LLVM's own order is slow once
  /// code is inserted: it renumbers the whole block each time.
  DenseMap<const Instruction *, unsigned> positions;
  UseOrder order;
};

/// Keeps a debugger's knowledge of the pointers whose computation is repeated
/// with a tag. A variable's location becomes the new pointer without its top
/// byte in three cases: the old pointer is deleted, only tags use it from there
/// on, or the variable's inlined function uses no other. Code generation drops
/// records about such an old pointer, and about a global variable in blocks
/// that do not use it.
class DebugRecords {
public:
  /// Records of \p old may refer to \p twin, the same pointer with a tag. Call
  /// before anything is deleted.
  void add(Instruction &old, Instruction &twin);

  /// The same for a base, or a part of a global variable, and the tagged
  /// pointer made of it.
  void addBase(Value &base, Instruction &tagged);

  /// Call afterwards: moves the records to the twins of deleted pointers, and
  /// to tagged bases.
  void follow(const DominatorTree &dominators);

private:
  struct Kept {
    DbgVariableRecord *record;
    DIExpression *expression;
    WeakVH old; ///< null once it is deleted
    Instruction *twin;
    bool isBase;
  };
  void add(Value &old, Instruction &twin, bool isBase);
  using Twins = DenseMap<const DbgVariableRecord *, const Instruction *>;
  void addConstants(Function &function);
  Twins bestTwins() const;
  void move(const Kept &one) const;

  SmallVector<Kept, 8> kept;
  MapVector<Constant *, SmallVector<Instruction *, 2>> constants;
};

} // namespace mpg
