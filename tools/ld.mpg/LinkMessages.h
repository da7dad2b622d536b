// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld.mpg's own messages, on standard error beside lld's.

#ifndef MPG_TOOLS_LDMPG_LINKMESSAGES_H
#define MPG_TOOLS_LDMPG_LINKMESSAGES_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

/// Each writes the beginning of a line; the caller ends it.
llvm::raw_ostream &error();
llvm::raw_ostream &warning();
llvm::raw_ostream &note();

/// Says \p reason as an error; returns the exit status.
int failed(llvm::Error reason);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKMESSAGES_H
