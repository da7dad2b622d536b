// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LTO code gets mpgtools' pass plugin if it lies beside this program. lld is
// given it in every link, because bitcode can lie in any archive and lld loads
// it only when it compiles some. Whether lld can load it is
// looked at first where there is bitcode, and else when the link has failed.

#ifndef MPG_TOOLS_LDMPG_LINKPLUGIN_H
#define MPG_TOOLS_LDMPG_LINKPLUGIN_H

#include "LinkContext.h"

namespace mpg {

/// The plugin that LTO code is to have, or nothing: not a second time if the
/// user names it.
std::string findPassPlugin(const LinkContext &link);

/// False if lld cannot load the plugin: it is then left out. That is worth a
/// word only where it would have been loaded; with \p isNeeded the caller
/// knows. Looks once.
bool checkPassPlugin(LinkContext &link, bool isNeeded = false);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKPLUGIN_H
