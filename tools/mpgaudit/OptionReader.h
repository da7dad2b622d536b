// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the parsed words of a command line, and of the configuration file that
// belongs to it, to Options.

#ifndef MPG_TOOLS_MPGAUDIT_OPTIONREADER_H
#define MPG_TOOLS_MPGAUDIT_OPTIONREADER_H

#include "Options.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

namespace mpg {

/// Fills \p options. Returns the first error, "" when there is none; the others
/// usually follow from it.
std::string readOptions(const llvm::opt::InputArgList &args, Options &options);

/// Fills \p options from \p commandLine, of which \p args are the options, and
/// from the configuration file that belongs to it. Returns the first error, or
/// "".
std::string readConfiguredOptions(const llvm::opt::OptTable &table,
                                  const llvm::opt::InputArgList &args,
                                  llvm::ArrayRef<const char *> commandLine,
                                  Options &options);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_OPTIONREADER_H
