// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One link: what is asked for, and what has been found out so far.

#ifndef MPG_TOOLS_LDMPG_LINKCONTEXT_H
#define MPG_TOOLS_LDMPG_LINKCONTEXT_H

#include "Link/InputScan.h"

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

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKCONTEXT_H
