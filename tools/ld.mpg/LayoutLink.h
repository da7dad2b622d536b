// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A link with the layout, if the data is large enough for it. The size is
// guessed from the inputs, the link runs accordingly, and the output is
// measured; only when the guess was wrong a second link follows
// (lib/Link/InputScan.h). What is made depends on the inputs only, never on who
// is quicker.
//
// lld's messages and exit status pass through untouched. It writes its output
// in one step; an output that fails the check afterwards is removed.

#ifndef MPG_TOOLS_LDMPG_LAYOUTLINK_H
#define MPG_TOOLS_LDMPG_LAYOUTLINK_H

#include "LinkContext.h"

namespace mpg {

/// Links; \p unscanned may still change the plan and is scanned meanwhile.
/// Returns the exit status. pre: the machine is known.
int linkWithLayout(LinkContext &link, llvm::ArrayRef<LinkInput> unscanned);

/// Links as ld.lld does. Returns only if that cannot be begun.
int linkAsIs(LinkContext &link);

/// A script of the user decides the layout; ld.mpg only looks at the result.
int linkUnderScript(LinkContext &link);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LAYOUTLINK_H
