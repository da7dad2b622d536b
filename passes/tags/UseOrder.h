// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which a value lists its users. Loop strength reduction goes
// through it, and of solutions that cost the same takes the first: where a
// repeated computation stands in another place of the list than the old one
// did, loops become others.

#ifndef MPG_PASSES_USEORDER_H
#define MPG_PASSES_USEORDER_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/ValueHandle.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_PASSES_USEORDER_H
