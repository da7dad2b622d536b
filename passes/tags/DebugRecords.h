// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps what a debugger knows of the pointers whose computation is repeated
// with a tag: where the old one goes away, or only tags are made of it from
// there on, or the inlined function that a variable is of uses no other, the
// variable's location is the new one without its top byte. Code generation
// drops what is said of such an old one, and of a global variable in blocks
// that do not use it.

#ifndef MPG_PASSES_DEBUGRECORDS_H
#define MPG_PASSES_DEBUGRECORDS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/ValueHandle.h"

namespace llvm {
class Constant;
class DbgVariableRecord;
class DIExpression;
class DominatorTree;
class Function;
class Instruction;
} // namespace llvm

namespace mpg {

class DebugRecords {
public:
  /// What is said of \p old may be said of \p twin, the same with a tag. Before
  /// anything is deleted.
  void add(llvm::Instruction &old, llvm::Instruction &twin);

  /// The same for a base, or a part of a global variable, and the pointer with
  /// a tag that was made of it.
  void addBase(llvm::Value &base, llvm::Instruction &tagged);

  /// Afterwards: says it of the twins of what was deleted, and of tagged bases.
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

#endif // MPG_PASSES_DEBUGRECORDS_H
