// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of ListLoop.cpp: one finds lookups, one keeps variables.

#pragma once

#include "prefetch/Lookup.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"

namespace mpg {

/// Of all machines the smallest.
constexpr int64_t minPageBytes = 4096;
/// Of a row. The next ones come too early, and a core waits for no more lines.
constexpr uint64_t maxElements = 16;

/// The loads and steps behind an address.
struct Origin {
  unsigned steps = 0;
  unsigned loads = 0; ///< one after another: 1 from a list, 2 from a row
  LoadInst *first = nullptr;
  LoadInst *last = nullptr;    ///< after it all that is loaded is known
  const Value *list = nullptr; ///< the array; of several, the last
  /// It is exact when this inner loop begins. Null: it is a guess where another
  /// inner loop has changed it.
  const Loop *user = nullptr;
};

/// A call may free an array, or a part of it.
bool mayFree(const Instruction &instruction);

struct ListLookup : Lookup {
  Origin origin;
  Instruction *place = nullptr; ///< of its code
  bool isOfRow() const { return origin.loads > 1; }
};

/// A row that an inner loop reads, and the lookups by its elements.
struct ListRow {
  LoadInst *element = nullptr; ///< null: there are no such lookups
  uint64_t bytes = 8;          ///< from an element to the next one
  Value *first = nullptr;      ///< number or address of the first element
  Value *end = nullptr;        ///< that of the element after the last one
  BranchInst *place = nullptr; ///< to the loop that reads the elements
  bool isReadIfTrue = false;   ///< or else if its condition is false
  SmallVector<Lookup, 4> lookups;
};

/// Finds the lookups by lists in a loop around others. Changes no code.
class ListLookups {
public:
  /// Finds them, and with \p anyRow also a row without lookups; nothing where
  /// the loop prefetches already.
  ListLookups(Loop &loop, bool anyRow, FunctionAnalysisManager &analyses);
  /// Adds to \p origin what \p value is computed from. \returns whether it can
  /// be computed earlier.
  bool trace(Value *value, Origin &origin) const;
  /// What \p phi is in the first iteration of an inner loop; itself if it is of
  /// this one. Null: neither is known.
  Value *getFirst(PHINode &phi) const;
  /// The step of \p value in an iteration of \p of. Null: not known.
  const SCEVConstant *getStep(Value &value, const Loop &of) const;
  /// Bytes from an iteration's element to the next one's. 0: \p load reads no
  /// list, or one of large elements.
  int64_t getListStep(LoadInst &load) const;

  Loop &loop;
  Function &function;
  LoopInfo &loops;
  ScalarEvolution &scev;
  DominatorTree &dominators;
  SmallVector<ListLookup, 8> all;
  ListRow row; ///< the first one that has lookups, or else any

private:
  bool isBound(LoadInst &load) const;
  bool traceLoad(LoadInst &load, Origin &origin) const;
  bool keepsMemory(const Instruction &first, const Instruction &end) const;
  ListRow getBounds(BasicBlock &block) const;
  bool findBounds(Loop &inner, Value &address, ListRow &found) const;
  ListRow getRow(LoadInst &element) const;
  void addElementAccess(Instruction &access, Value *address);
  void addAccess(Instruction &access);
  void findAnyRow();
  Instruction *findPlace(const Origin &origin) const;

  SmallPtrSet<const SCEV *, 8> lists; ///< their addresses, in inner loops, too
};

/// Keeps variables for later iterations, and how many of them skip the code.
class IterationState {
public:
  IterationState(const ListLookups &lookups, unsigned distance)
      : lookups(lookups), distance(distance) {}
  /// So that iterations can be skipped. False: the loop counts nothing.
  bool findCounter();
  bool canSkip() const { return counter; }
  /// Whether this iteration is not skipped at \p place.
  Value *isActive(Instruction &place);
  /// Skips more iterations at the last place each time that they are of no use.
  void skipUseless(Value *isUseful, IRBuilder<> &builder);
  /// Calls that may free memory set a variable back, unless it \p isKept.
  AllocaInst *addVariable(Value *begin, bool isKept = false);
  /// Sets a mark at these calls, so that they cost little. Code that is not
  /// skipped, at \p begins, then sets the variables back.
  void finish(ArrayRef<BasicBlock *> begins);

private:
  void keepSkipped();
  void forget(ArrayRef<BasicBlock *> begins);

  const ListLookups &lookups;
  unsigned distance; ///< that the code prefetches ahead
  PHINode *counter = nullptr;
  int64_t step = 0;                ///< of the counter
  Value *count = nullptr;          ///< the counter as a number
  GlobalVariable *state = nullptr; ///< of skipped, when the loop begins
  AllocaInst *skipped = nullptr;   ///< iterations, by the last decision
  AllocaInst *resume = nullptr;    ///< the counter when this code runs again
  /// With what they are after a call that may free memory; null: as before it.
  MapVector<AllocaInst *, Constant *> variables;
};

} // namespace mpg
