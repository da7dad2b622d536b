// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the other parts of this installation are.

#ifndef MPG_TOOLS_MPGAUDIT_FINDPARTS_H
#define MPG_TOOLS_MPGAUDIT_FINDPARTS_H

#include "Audit/Fix.h"

namespace mpg {

/// Relative to this program, where they exist: a test runs a copy of it alone,
/// and a build with LLVM 19 has no ld.mpg.
InstalledParts findParts();

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_FINDPARTS_H
