// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line over what the configuration file says.

#ifndef MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H
#define MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H

#include "Options.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

namespace mpg {

/// Fills \p options from \p commandLine, of which \p args are the options, and
/// from the configuration file that belongs to it. Returns the first error, or
/// "".
std::string readConfiguredOptions(const llvm::opt::OptTable &table,
                                  const llvm::opt::InputArgList &args,
                                  llvm::ArrayRef<const char *> commandLine,
                                  Options &options);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_CONFIGUREDOPTIONS_H
