// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user said about first touch (MPG_FIRST_TOUCH_OFF, MPG_FIRST_TOUCH,
// touch: in a side file), in a form that lives through the optimiser until
// arrays are looked for: string attributes, which no pass reads, on functions,
// parameters, global variables and calls (they stay when a call is inlined or
// becomes an invoke, where metadata is lost), and metadata on local variables,
// which have no attributes.

#ifndef MPG_PASSES_FIRSTTOUCHCHOICE_H
#define MPG_PASSES_FIRSTTOUCHCHOICE_H

#include "base/Hint.h"

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

/// Notes that something about which off was said is allocated by malloc in
/// \p function: with a memset after it LLVM makes a new call of calloc of it.
void noteMallocOff(llvm::Function &function);
bool hasMallocOff(const llvm::Function &function);

/// What was said for the call \p allocation and nothing around it.
TouchChoice ownChoice(const llvm::CallBase &allocation);

} // namespace mpg

#endif // MPG_PASSES_FIRSTTOUCHCHOICE_H
