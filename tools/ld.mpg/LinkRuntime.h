// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which libmpg an output is linked with, and where its program finds it.

#ifndef MPG_TOOLS_LDMPG_LINKRUNTIME_H
#define MPG_TOOLS_LDMPG_LINKRUNTIME_H

#include "Link/LldCommand.h"
#include "LinkContext.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKRUNTIME_H
