// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resource limits of this process, which a program started from here inherits.

#ifndef MPG_NODE_PROCESSLIMITS_H
#define MPG_NODE_PROCESSLIMITS_H

#include "Node/SysTree.h"

namespace mpg {

/// Soft limits in bytes; UINT64_MAX: unlimited.
struct ProcessLimits {
  Fact<uint64_t> lockedMemory, stack, addressSpace;
};

ProcessLimits readProcessLimits(const SysTree &tree);

} // namespace mpg

#endif // MPG_NODE_PROCESSLIMITS_H
