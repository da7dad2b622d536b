// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the names and lines of a source, C or Fortran, to what became of them in
// the module.

#ifndef MPG_PASSES_SOURCENAMES_H
#define MPG_PASSES_SOURCENAMES_H

#include "hints/HintText.h"

namespace mpg {

/// Lines of one file, both included; first is 0 if there are none.
struct SourceLines {
  unsigned first = 0, last = 0;
};

/// The function \p name, which may be the linkage name or that of a Fortran
/// procedure, and what flang made of its OpenMP regions.
std::vector<llvm::Function *> functionsNamed(llvm::Module &module,
                                             llvm::StringRef name);

/// The global or module variable \p name; nullptr if there is none.
llvm::GlobalVariable *globalNamed(llvm::Module &module, llvm::StringRef name);

/// Addresses of the variables \p name of \p function: known from debug
/// information only. Letters may be upper or lower case.
std::vector<llvm::Value *> variablesNamed(llvm::Function &function,
                                          llvm::StringRef name);

/// The parameter \p number (1 is the first), or the local variable that clang
/// puts it into; nullptr if there is none.
llvm::Value *rootOfParameter(llvm::Function &function, unsigned number);

/// As targetOf; descriptors of Fortran arrays, which begin with the pointer,
/// count as pointers.
std::optional<HintRequest::Target> targetOfRoot(llvm::Value *root);

/// What came of \p lines in \p function: known from debug information only.
std::shared_ptr<Region> regionOfLines(const SourceLines &lines,
                                      llvm::Function &function);

/// Sets the begin and the end of \p request so that all of its region lies
/// between. False if there is no such place.
bool findBracket(WaysRequest &request);

} // namespace mpg

#endif // MPG_PASSES_SOURCENAMES_H
