// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts tags on the addresses of one function: finds the base of each address,
// where the tag can be put on outside of the loop, and repeats the computation
// of the address after it. And keeps what debuggers know of the old ones.

#ifndef MPG_PASSES_ADDRESSTAGGER_H
#define MPG_PASSES_ADDRESSTAGGER_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ValueHandle.h"
#include <cstdint>

namespace llvm {
class Constant;
class DbgVariableRecord;
class DIExpression;
class DominatorTree;
class Function;
} // namespace llvm

namespace mpg {

/// The order in which a value lists its users. Loop strength reduction follows
/// it, and takes the first of several solutions with the same cost. So if the
/// repeated computation had another position in the list than the old one,
/// loops would change.
class UseOrder {
public:
  /// Remembers the users of \p old, which is going to be repeated, and of its
  /// operands.
  void keep(llvm::Value &old);

  /// \p twin, an instruction, repeats \p old.
  void addTwin(llvm::Value &old, llvm::Value &twin);

  /// Afterwards: puts each twin in the place of what it repeats.
  void restore();

private:
  /// The places of the users in a list.
  using Places = llvm::DenseMap<const llvm::Value *, unsigned>;

  void keepList(llvm::Value &value);
  void restoreList(llvm::Value &value, const Places &places) const;

  struct List {
    llvm::WeakVH value;
    Places places;
  };
  llvm::DenseMap<const llvm::Value *, List> lists;
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> originals;
  llvm::SmallVector<std::pair<const llvm::Value *, llvm::Value *>, 16> twins;
};

class AddressTagger {
public:
  AddressTagger(llvm::DominatorTree &dominators, llvm::LoopInfo &loops,
                bool formGep)
      : dominators(dominators), loops(loops), formGep(formGep) {}

  /// Plans a tag for \p address, the operand of an access. Returns nullptr, or
  /// the reason why the tag would cost instructions in the innermost loop; then
  /// nothing changes for it.
  const char *plan(llvm::Use &address, uint8_t tag);

  /// Changes the function. Returns the tagged bases (the inttoptr).
  llvm::SmallVector<llvm::Instruction *, 8> write();

private:
  /// A pointer that gets one tag in one place.
  using Base = std::pair<llvm::Value *, unsigned>;
  struct Planned {
    llvm::Use *address;
    uint8_t tag;
    llvm::SmallVector<llvm::Value *, 2> bases;
  };

  const char *findBases(llvm::Value *pointer, const llvm::Loop *loop,
                        llvm::SmallSetVector<llvm::Value *, 4> &path,
                        llvm::SmallVectorImpl<llvm::Value *> &bases);
  const char *checkBase(llvm::Value *base, const llvm::Instruction &access);
  llvm::Instruction *anchor(llvm::Value *base, llvm::Instruction *access);
  llvm::Instruction *findPlace(llvm::Value *base,
                               llvm::ArrayRef<llvm::Instruction *> accesses);
  llvm::Instruction *writeTag(llvm::Value *base, uint8_t tag,
                              llvm::Instruction *place);
  llvm::Value *retag(llvm::Value *pointer, uint8_t tag, const llvm::Loop *loop);
  llvm::Instruction *repeatStep(llvm::GEPOperator &old,
                                llvm::Instruction *base);
  void deleteOld(llvm::SmallVectorImpl<llvm::WeakTrackingVH> &values);
  void numberInstructions();
  bool isBefore(const llvm::Instruction *first,
                const llvm::Instruction *second) const;

  llvm::DominatorTree &dominators;
  llvm::LoopInfo &loops;
  bool formGep;
  llvm::SmallVector<Planned, 16> planned;
  /// The tag of each base, and the tagged twins of what is computed from it for
  /// the accesses of a loop.
  llvm::MapVector<Base, llvm::Value *> baseTags;
  llvm::MapVector<std::pair<Base, const llvm::Loop *>, llvm::Value *> twins;
  /// Positions of instructions, old and new ones. LLVM's own order is slow once
  /// code is inserted: it renumbers the whole block each time.
  llvm::DenseMap<const llvm::Instruction *, unsigned> positions;
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
  void add(llvm::Instruction &old, llvm::Instruction &twin);

  /// The same for a base, or a part of a global variable, and the tagged
  /// pointer made of it.
  void addBase(llvm::Value &base, llvm::Instruction &tagged);

  /// Call afterwards: moves the records to the twins of deleted pointers, and
  /// to tagged bases.
  void follow(const llvm::DominatorTree &dominators);

private:
  struct Kept {
    llvm::DbgVariableRecord *record;
    llvm::DIExpression *expression;
    llvm::WeakVH old; ///< null once it is deleted
    llvm::Instruction *twin;
    bool isBase;
  };
  void add(llvm::Value &old, llvm::Instruction &twin, bool isBase);
  using Twins = llvm::DenseMap<const llvm::DbgVariableRecord *,
                               const llvm::Instruction *>;
  void addConstants(llvm::Function &function);
  Twins bestTwins() const;
  void move(const Kept &one) const;

  llvm::SmallVector<Kept, 8> kept;
  llvm::MapVector<llvm::Constant *, llvm::SmallVector<llvm::Instruction *, 2>>
      constants;
};

} // namespace mpg

#endif // MPG_PASSES_ADDRESSTAGGER_H
