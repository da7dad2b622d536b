// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a variable to the loads, stores and prefetches through it, in code that
// no pass has changed yet (everything is still in allocas). Follows pointers
// computed from the variable, local pointers that are only ever set from it,
// and the paths by which OpenMP regions access variables of the surrounding
// function. Does not follow other copies of the pointer: a hint is about a
// variable, not about memory.

#ifndef MPG_PASSES_POINTERUSES_H
#define MPG_PASSES_POINTERUSES_H

#include "base/Access.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

namespace mpg {

class PointerUses {
public:
  /// \p others: variables with hints of their own, which are not followed.
  explicit PointerUses(const llvm::DenseSet<const llvm::Value *> &others)
      : others(others) {}

  /// \p place is the address of a pointer variable, or of the descriptor of a
  /// Fortran array.
  void addPlace(llvm::Value *place);
  /// \p pointer points into the data itself.
  void addData(llvm::Value *pointer);
  /// Follows everything that was added. Call it once.
  void run();

  /// Accesses that can be tagged, in a fixed order.
  llvm::SmallVector<llvm::Instruction *, 16> accesses;
  /// Other uses of a pointer that a user may have meant.
  llvm::SmallVector<std::pair<llvm::Instruction *, Untaggable>, 4> missed;

  /// Where the code of \p instruction is entered from function \p from: itself
  /// if it is there, or the call that starts the parallel region.
  const llvm::Instruction *seenFrom(const llvm::Function &from,
                                    const llvm::Instruction &instruction) const;

private:
  void followPlace(llvm::Value *place);
  void followData(llvm::Value *pointer);
  void followStore(llvm::StoreInst &store);
  void missInTask(llvm::StoreInst &store);
  void enterParallelRegion(llvm::CallBase &call, const llvm::Use &argument,
                           bool isPlace);
  bool isLocal(const llvm::AllocaInst &variable) const;
  bool isOnlyData(llvm::Value *value) const;
  void removeMerges();
  void collectAccesses();

  const llvm::DenseSet<const llvm::Value *> &others;
  llvm::SetVector<llvm::Value *> places, data;
  llvm::SetVector<llvm::Value *> merged; ///< may also be something else
  llvm::DenseSet<llvm::Value *> roots;   ///< what addData was given
  /// Copies of a place in a local variable, as in an outlined function.
  llvm::DenseSet<llvm::AllocaInst *> placeCopies;
  llvm::DenseMap<const llvm::Function *, const llvm::CallBase *> enteredBy;
};

/// Whether \p function is the body of a parallel region to which clang adds a
/// function around it with -g.
bool isDebugBody(const llvm::Function &function);

/// The function that \p call runs on the threads of an OpenMP team, if any.
llvm::Function *findParallelRegion(const llvm::CallBase &call);

/// \p function and the parallel regions that it starts, and those that they
/// start: all that is written in its body.
llvm::SmallSetVector<llvm::Function *, 4>
functionWithRegions(llvm::Function &function);

} // namespace mpg

#endif // MPG_PASSES_POINTERUSES_H
