// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lld itself, which is linked in as a library. It runs in the way in which
// ld.lld runs it: it ends the process without tidying up, which would cost a
// few percent of a large link. Where there is something left to do afterwards
// it therefore runs in a child (Child.h).

#ifndef MPG_TOOLS_LDMPG_LLDPROCESS_H
#define MPG_TOOLS_LDMPG_LLDPROCESS_H

#include "Child.h"
#include "MemoryFile.h"
#include "llvm/ADT/ArrayRef.h"

namespace mpg {

/// Runs lld as ld.lld does; does not return.
[[noreturn]] void becomeLld(llvm::ArrayRef<std::string> command);

/// Starts lld. What it prints goes to \p out and \p err instead of the terminal
/// if these are given.
llvm::Expected<Child> startLld(llvm::ArrayRef<std::string> command,
                               MemoryFile *out = nullptr,
                               MemoryFile *err = nullptr);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LLDPROCESS_H
