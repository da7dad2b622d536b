// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of libmpg that passes insert: the program links and runs without it.

#pragma once

#include "base/LLVM.h"
#include "llvm/IR/DerivedTypes.h"

namespace mpg {

/// A function of \p module that calls the weak function \p name of libmpg if
/// that is linked, and otherwise returns \p absent (null: \p type returns
/// nothing). Null if the program uses the name for something else.
Function *callIfThere(Module &module, StringRef name, FunctionType *type,
                      Constant *absent);

} // namespace mpg
