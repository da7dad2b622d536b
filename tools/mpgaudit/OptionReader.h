// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the parsed words of a command line to Options.

#ifndef MPG_TOOLS_MPGAUDIT_OPTIONREADER_H
#define MPG_TOOLS_MPGAUDIT_OPTIONREADER_H

#include "Options.h"
#include "llvm/Option/ArgList.h"

namespace mpg {

/// Fills \p options. Returns the first error, "" when there is none; the others
/// usually follow from it.
std::string readOptions(const llvm::opt::InputArgList &args, Options &options);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_OPTIONREADER_H
