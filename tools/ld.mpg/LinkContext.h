// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One link: what is asked for, what has been found out so far, and ld.mpg's own
// messages about it, on standard error beside lld's.

#ifndef MPG_TOOLS_LDMPG_LINKCONTEXT_H
#define MPG_TOOLS_LDMPG_LINKCONTEXT_H

#include "Link/InputScan.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace mpg {

struct LinkContext {
  LinkRequest request;
  /// Where this installation keeps its libraries, in order.
  std::vector<std::string> libraryFolders;
  ScanResult scan;            ///< of the inputs that have been looked at
  std::string runtimeLibrary; ///< libmpg, where the user names none
  std::string passPlugin;     ///< for LTO; empty if there is none that fits
  bool passPluginChecked = false;
};

/// Each writes the beginning of a line; the caller ends it.
llvm::raw_ostream &error();
llvm::raw_ostream &warning();
llvm::raw_ostream &note();

/// Says \p reason as an error; returns the exit status.
int failed(llvm::Error reason);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKCONTEXT_H
