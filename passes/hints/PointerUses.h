// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a variable to the loads, stores and prefetches through it, in code that
// no pass has changed yet (everything is still in allocas). Follows pointers
// computed from the variable, local pointers that are only ever set from it,
// and the paths by which OpenMP regions access variables of the surrounding
// function. Does not follow other copies of the pointer: a hint is about a
// variable, not about memory.

#pragma once

#include "base/Access.h"
#include "base/LLVM.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

namespace mpg {

class PointerUses {
public:
  /// \p others: variables with hints of their own, which are not followed.
  explicit PointerUses(const DenseSet<const Value *> &others)
      : others(others) {}

  /// \p place is the address of a pointer variable, or of the descriptor of a
  /// Fortran array.
  void addPlace(Value *place);
  /// \p pointer points into the data itself.
  void addData(Value *pointer);
  /// Follows everything that was added. Call it once.
  void run();

  /// Accesses that can be tagged, in a fixed order.
  SmallVector<Instruction *, 16> accesses;
  /// Other uses of a pointer that a user may have meant.
  SmallVector<std::pair<Instruction *, Untaggable>, 4> missed;

  /// Where the code of \p instruction is entered from function \p from: itself
  /// if it is there, or the call that starts the parallel region.
  const Instruction *seenFrom(const Function &from,
                              const Instruction &instruction) const;

private:
  void followPlace(Value *place);
  void followData(Value *pointer);
  void followStore(StoreInst &store);
  void missInTask(StoreInst &store);
  void enterParallelRegion(CallBase &call, const Use &argument, bool isPlace);
  bool isLocal(const AllocaInst &variable) const;
  bool isOnlyData(Value *value) const;
  void removeMerges();
  void collectAccesses();

  const DenseSet<const Value *> &others;
  SetVector<Value *> places, data;
  SetVector<Value *> merged; ///< may also be something else
  DenseSet<Value *> roots;   ///< what addData was given
  /// Copies of a place in a local variable, as in an outlined function.
  DenseSet<AllocaInst *> placeCopies;
  DenseMap<const Function *, const CallBase *> enteredBy;
};

/// Whether \p function is the body of a parallel region to which clang adds a
/// function around it with -g.
bool isDebugBody(const Function &function);

/// The function that \p call runs on the threads of an OpenMP team, if any.
Function *findParallelRegion(const CallBase &call);

/// \p function and the parallel regions that it starts, and those that they
/// start: all that is written in its body.
SmallSetVector<Function *, 4> functionWithRegions(Function &function);

} // namespace mpg
