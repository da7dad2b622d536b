// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When which inputs are looked at (lib/Link/InputScan.h), and what is said
// about them. Objects are looked at first. When they hold little, lld starts
// while the archives are still being looked at, as if these held little too.

#ifndef MPG_TOOLS_LDMPG_LINKINPUTS_H
#define MPG_TOOLS_LDMPG_LINKINPUTS_H

#include "LinkContext.h"

namespace mpg {

/// Scans as much as is quick or must be known before lld starts. Returns the
/// archives that may still change the plan.
std::vector<LinkInput> scanFirst(LinkContext &link);

/// Scans \p inputs and waits for it.
void scanNow(LinkContext &link, llvm::ArrayRef<LinkInput> inputs);

/// False if there are objects that lld cannot read, which has been said then.
bool checkSlimObjects(const ScanResult &scan);

/// After lld has failed: says what it could not know.
void explainFailure(const LinkContext &link);

} // namespace mpg

#endif // MPG_TOOLS_LDMPG_LINKINPUTS_H
