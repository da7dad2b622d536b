// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hints for code that may not be edited, and those of Fortran's !OCL lines: a
// YAML file that maps names of functions, arrays and variables to hints.
// docs/hints.md describes it.

#ifndef MPG_PASSES_SIDEFILE_H
#define MPG_PASSES_SIDEFILE_H

#include "hints/HintText.h"

namespace mpg {

/// Adds what the file \p path says about \p module to \p requests. What is
/// wrong in it, and names that \p module does not have, are warned about with
/// the file's line; the rest counts.
void readSideFile(llvm::Module &module, const std::string &path,
                  HintRequests &requests);

} // namespace mpg

#endif // MPG_PASSES_SIDEFILE_H
