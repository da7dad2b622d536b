// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits of this process. Its control groups: 2 MiB pages in use and
// reserved (hugetlb controller), memory as a whole, and whether large pages
// count as memory there; version 1 and 2, a limit of any group above counts.
// Its resource limits, which a program started from here inherits, or those of
// another process.

#ifndef MPG_NODE_NODELIMITS_H
#define MPG_NODE_NODELIMITS_H

#include "Node/SysTree.h"

namespace mpg {

/// One file of limits and how much of it is used.
struct GroupLimit {
  std::string file; ///< as on the node
  Fact<uint64_t> limitBytes, usageBytes;
  bool isReservation = false; ///< counts reserved pages, not pages in use

  uint64_t leftBytes() const;
  /// A line for the shell that lifts it.
  std::string liftCommand() const;
};

/// The groups of one controller.
struct GroupLimits {
  unsigned version = 0; ///< 1 or 2; 0: no such controller here
  std::string folder;   ///< the group of this process, as on the node
  std::string unknown;  ///< why nothing could be read; empty if it could
  /// Only what limits or could not be read, innermost group first.
  std::vector<GroupLimit> limits;

  /// The one with the least left; null if nothing limits.
  const GroupLimit *tightest() const;
};

struct CgroupFacts {
  GroupLimits largePages, memory;
  /// Whether pages of the pool count in the memory of a group.
  Fact<bool> poolCountsAsMemory;
};

CgroupFacts readCgroupFacts(const SysTree &tree);

/// Soft limits in bytes; UINT64_MAX: unlimited.
struct ProcessLimits {
  Fact<uint64_t> lockedMemory, stack, addressSpace;
};

/// \p process: "self", or a process id.
ProcessLimits readProcessLimits(const SysTree &tree,
                                llvm::StringRef process = "self");

} // namespace mpg

#endif // MPG_NODE_NODELIMITS_H
