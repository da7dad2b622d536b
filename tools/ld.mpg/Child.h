// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a part of the program in a child of its own, so that it may end the
// process, crash, or leave its memory in disorder without taking us along.

#ifndef MPG_TOOLS_LDMPG_CHILD_H
#define MPG_TOOLS_LDMPG_CHILD_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mpg {

/// Exit status of \p body, run in a child. A signal that ends the child is
/// raised in this process too, as if \p body had run here. If there is no child
/// to be had, \p fail is told why and the result is 1.
/// pre: this process has one thread, and its streams are flushed.
int runInChild(llvm::function_ref<void()> body,
               llvm::function_ref<void(llvm::StringRef)> fail);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_CHILD_H
