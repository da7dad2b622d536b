// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links that are not laid out by ld.mpg.

#ifndef MPG_TOOLS_LDMPG_PLAINLINK_H
#define MPG_TOOLS_LDMPG_PLAINLINK_H

#include "LinkContext.h"

namespace mpg {

/// Links as ld.lld does. Returns only if that cannot be begun.
int linkAsIs(LinkContext &link);

/// A script of the user decides the layout; ld.mpg only looks at the result.
int linkUnderScript(LinkContext &link);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_PLAINLINK_H
