// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a shell offers when Tab is pressed behind mpgaudit: beside the options
// the findings, from their table.

#ifndef MPG_TOOLS_MPGAUDIT_COMPLETION_H
#define MPG_TOOLS_MPGAUDIT_COMPLETION_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace llvm::opt {
class OptTable;
}

namespace mpg {

/// Every word that \p typed may become, one a line, followed by a tab and a
/// short description where there is one. Nothing where the shell knows better:
/// for files and numbers.
std::string completionsFor(const llvm::opt::OptTable &table,
                           llvm::StringRef typed);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_COMPLETION_H
