// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's choices about first touch (MPG_FIRST_TOUCH_OFF, MPG_FIRST_TOUCH,
// touch: in a side file): finds the allocations they are about, and keeps the
// choices until the search for arrays in a form that survives the optimiser.
// That form is string attributes, which no pass reads, on functions,
// parameters, global variables and calls (they stay when a call is inlined or
// becomes an invoke, where metadata is lost), and metadata on local variables,
// which have no attributes.

#pragma once

#include "base/Hint.h"
#include "base/StagePass.h"
#include "hints/HintText.h"

namespace mpg {

/// The choice for the memory of \p allocation: of the call itself, else of the
/// variable that holds its result, else of the called function, else of the
/// function that contains it. Accepts any instruction; one that allocates
/// nothing has its function's choice.
TouchChoice choiceFor(const Instruction &allocation);

/// The choice for a global array, or for all memory that a global pointer gets.
TouchChoice choiceFor(const GlobalVariable &global);

/// The choice for the memory that \p argument points to. It names no
/// allocation: use this when memory is found through the parameter.
TouchChoice choiceFor(const Argument &argument);

/// The choice for everything in \p function. OpenMP regions have that of the
/// surrounding function.
TouchChoice choiceFor(const Function &function);

/// Sets \p choice for one of these, replacing an earlier one.
void setChoice(CallBase &allocation, TouchChoice choice);
void setChoice(AllocaInst &variable, TouchChoice choice);
void setChoice(GlobalVariable &global, TouchChoice choice);
void setChoice(Argument &argument, TouchChoice choice);
void setChoice(Function &function, TouchChoice choice);

/// Marks the allocations of \p requests, in code that no pass has changed yet:
/// those stored in the variable directly, through casts, ?: and local
/// variables, or by a call that gets the variable's address (posix_memalign,
/// Fortran's allocate). A call of a function that allocates counts as an
/// allocation; the inside of that function is not examined.
///
/// Applies the choices in \p requests and warns about those that cannot apply.
/// Erases addresses in \p requests that stood for fields and have no other use.
/// Returns whether \p module changed.
bool markTouches(Module &module, const HintRequests &requests);

/// Runs when a function's callees have been inlined into it, and before it is
/// inlined itself. Gives inlined allocations, as those of std::vector, the
/// function's choice, and gives a calloc made from a malloc and a memset the
/// malloc's choice.
struct TouchKeeperPass : RequiredPass<TouchKeeperPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses);
};

} // namespace mpg
