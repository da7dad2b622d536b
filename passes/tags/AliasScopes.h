// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps what is known about which accesses of loops are to different memory. A
// tagged address has no object any more that alias analysis could find; code
// generation would then keep loads behind stores that have nothing to do with
// them. So before tags are written each object behind a tagged access gets an
// alias scope, and each access says which of them it has nothing to do with.
//
// A scope speaks of a whole function run: of all iterations of its loops, and
// all of an object. So alias analysis is asked about objects, not about
// accesses, and only where one of the two is the same all the time.

#ifndef MPG_PASSES_ALIASSCOPES_H
#define MPG_PASSES_ALIASSCOPES_H

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class AAResults;
class Function;
class Instruction;
class LoopInfo;
} // namespace llvm

namespace mpg {

/// Writes scopes on \p tagged, the accesses that will have a tag, and on what
/// else is loaded and stored in the loops of \p function.
void writeObjectScopes(llvm::Function &function,
                       llvm::ArrayRef<llvm::Instruction *> tagged,
                       llvm::AAResults &aliases, llvm::LoopInfo &loops);

/// Takes them off again, for code that is optimised once more: in a loop that
/// the function is inlined into they would speak of other runs, too.
void eraseObjectScopes(llvm::Instruction &access);

} // namespace mpg

#endif // MPG_PASSES_ALIASSCOPES_H
