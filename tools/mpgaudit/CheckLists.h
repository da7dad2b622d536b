// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --checks asks for.

#ifndef MPG_TOOLS_MPGAUDIT_CHECKLISTS_H
#define MPG_TOOLS_MPGAUDIT_CHECKLISTS_H

#include "Audit/Audit.h"

namespace mpg {

/// Applies \p lists such as "layout,+heap,-MPG103" to the checks of
/// \p settings. Several are one list: the second does not undo the first.
/// Returns what is wrong with them, or "".
std::string readCheckLists(llvm::ArrayRef<std::string> lists,
                           AuditSettings &settings);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_CHECKLISTS_H
