// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch says about paging in at the start or at the first touch:
// XOS_MMM_L_PAGING_POLICY, as libmpg reads it.

#ifndef MPG_AUDIT_PAGING_H
#define MPG_AUDIT_PAGING_H

#include "Audit/Launch.h"

namespace mpg {

struct PagingPolicy {
  bool bssPrepaged = true, stackPrepaged = false, heapPrepaged = true;
  /// As a report shows it: the setting, or the default.
  std::string text = "prepage:demand:prepage, the default";
};

/// The policy in force, for \p launch null the default. Nothing if large pages
/// are switched off or the script gives a value that only the job knows. A
/// value that libmpg would refuse counts as the default, as it does there.
std::optional<PagingPolicy> pagingPolicy(const Launch *launch);

/// What is known about paging in. Nothing is known behind "module load".
struct PagingState {
  bool off = false;    ///< large pages are switched off
  bool known = true;   ///< policy is the one in force, else the default
  PagingPolicy policy; ///< means nothing if off
};
PagingState pagingState(const Launch *launch);

/// False if the job switches them off, for Fujitsu's library or for ours.
bool wantsLargePages(const Launch &launch);

} // namespace mpg

#endif // MPG_AUDIT_PAGING_H
