// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user said about first touch (MPG_FIRST_TOUCH_OFF, MPG_FIRST_TOUCH,
// touch: in a side file): found for the allocations that it is about, and kept
// in a form that lives through the optimiser until arrays are looked for:
// string attributes, which no pass reads, on functions, parameters, global
// variables and calls (they stay when a call is inlined or becomes an invoke,
// where metadata is lost), and metadata on local variables, which have no
// attributes.

#ifndef MPG_PASSES_FIRSTTOUCHCHOICE_H
#define MPG_PASSES_FIRSTTOUCHCHOICE_H

#include "base/Hint.h"
#include "hints/HintText.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class AllocaInst;
class Argument;
class CallBase;
class Function;
class GlobalVariable;
class Instruction;
} // namespace llvm

namespace mpg {

/// What was said for the memory that \p allocation gives: for the call itself,
/// else for the variable that its result is stored in, else for the function
/// that is called, else for the one that it stands in. Any instruction may be
/// asked about; one that allocates nothing has what its function has.
TouchChoice choiceFor(const llvm::Instruction &allocation);

/// What was said for a global array, or for all that a global pointer gets.
TouchChoice choiceFor(const llvm::GlobalVariable &global);

/// What was said for the memory that \p argument points to. It names no
/// allocation: ask when memory is found through the parameter.
TouchChoice choiceFor(const llvm::Argument &argument);

/// What was said for all that happens in \p function. OpenMP regions have what
/// the function around them has.
TouchChoice choiceFor(const llvm::Function &function);

/// Says \p choice for one of these. What was said before is replaced.
void setChoice(llvm::CallBase &allocation, TouchChoice choice);
void setChoice(llvm::AllocaInst &variable, TouchChoice choice);
void setChoice(llvm::GlobalVariable &global, TouchChoice choice);
void setChoice(llvm::Argument &argument, TouchChoice choice);
void setChoice(llvm::Function &function, TouchChoice choice);

/// Marks what the touches of \p requests mean, in code that no pass has changed
/// yet: what is stored in the variable, directly, through casts, ?: and local
/// variables, or by a call that gets the variable's address (posix_memalign,
/// Fortran's allocate). A call of a function that allocates is as good as an
/// allocation; what that function does inside is not looked at.
///
/// What they cannot be about is warned about. The addresses that stood for
/// fields in \p requests, and are about nothing else, are erased. Returns
/// whether \p module changed.
bool markTouches(llvm::Module &module, const HintRequests &requests);

/// When what a function calls has been inlined into it, and before it is itself
/// inlined: gives the allocations that have come, as those of std::vector, what
/// was said for the function, and the calloc that has become of a malloc and a
/// memset what was said for the malloc.
class TouchKeeperPass : public llvm::PassInfoMixin<TouchKeeperPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &function,
                              llvm::FunctionAnalysisManager &analyses);
  static bool isRequired() { return true; }
};

} // namespace mpg

#endif // MPG_PASSES_FIRSTTOUCHCHOICE_H
