// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ld.mpg adds to a link: libmpg, of the machine that is linked for, and
// for LTO code mpgtools' pass plugin if it lies beside this program.

#ifndef MPG_TOOLS_LDMPG_LINKADDITIONS_H
#define MPG_TOOLS_LDMPG_LINKADDITIONS_H

#include "Link/LldCommand.h"
#include "LinkContext.h"

namespace mpg {

//===----------------------------------------------------------------------===//
// libmpg
//===----------------------------------------------------------------------===//

/// Looks for the libmpg that the link is to have, and of the machine that is
/// linked for as far as that is known. False if it is asked for and missing;
/// that has been said then.
bool findRuntime(LinkContext &link);

/// The program has to run as it is: it is told where the runtime lies.
void addRuntime(const LinkContext &link, Additions &additions);

/// Says that the program needs the runtime now, and how it can do without or be
/// moved: to a user who reads it. Build systems and configure scripts take
/// words on standard error for trouble, and keep them away from terminals.
void noteRuntime(const LinkContext &link);

//===----------------------------------------------------------------------===//
// The pass plugin
//===----------------------------------------------------------------------===//
//
// lld is given it in every link, because bitcode can lie in any archive and lld
// loads it only when it compiles some. Whether lld can load it is looked at
// first where there is bitcode, and else when the link has failed.

/// The plugin that LTO code is to have, or nothing: not a second time if the
/// user names it.
std::string findPassPlugin(const LinkContext &link);

/// False if lld cannot load the plugin: it is then left out. That is worth a
/// word only where it would have been loaded; with \p isNeeded the caller
/// knows. Looks once.
bool checkPassPlugin(LinkContext &link, bool isNeeded = false);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKADDITIONS_H
