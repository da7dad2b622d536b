// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closure as a tree, for people.

#ifndef MPG_LOADER_TREE_H
#define MPG_LOADER_TREE_H

#include "Loader/Closure.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// Each library under the one that asked for it first, with its path or the
/// reason why there is none.
void writeTree(llvm::raw_ostream &out, llvm::StringRef programPath,
               const Closure &closure);

} // namespace mpg

#endif // MPG_LOADER_TREE_H
