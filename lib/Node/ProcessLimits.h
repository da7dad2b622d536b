// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resource limits of this process, which a program started from here inherits,
// or of another one.

#ifndef MPG_NODE_PROCESSLIMITS_H
#define MPG_NODE_PROCESSLIMITS_H

#include "Node/SysTree.h"

namespace mpg {

/// Soft limits in bytes; UINT64_MAX: unlimited.
struct ProcessLimits {
  Fact<uint64_t> lockedMemory, stack, addressSpace;
};

/// \p process: "self", or a process id.
ProcessLimits readProcessLimits(const SysTree &tree,
                                llvm::StringRef process = "self");

} // namespace mpg

#endif // MPG_NODE_PROCESSLIMITS_H
