// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the control groups of this process (v1 and v2, each one above counts)
// still allow of large pages and of memory.

#ifndef MPG_RUNTIME_CGROUP_H
#define MPG_RUNTIME_CGROUP_H

#include <stddef.h>
#include <stdint.h>

namespace mpg {

/// Of large pages, by the controller hugetlb.
struct CgroupLimit {
  bool exists = false;
  uint64_t usageLeftBytes = UINT64_MAX;       ///< limit on pages in use
  uint64_t reservationLeftBytes = UINT64_MAX; ///< limit on reservations
  char file[192] = {};              ///< the file with the tightest limit
  uint64_t limitBytes = UINT64_MAX; ///< what that file says
};
CgroupLimit readCgroupLimit(size_t hugeBytes);

/// Whether this process is in a group for large pages whose files it cannot
/// see, as in a container without a mount of the hierarchy. There may be a
/// limit, then.
bool cgroupIsHidden();

/// What the groups' limits leave of memory, with the cache of files that the
/// kernel would drop; UINT64_MAX: no limit. Large pages of a pool do not count.
uint64_t readCgroupMemoryLeft();

/// Whether \p bytes of transparent huge pages, which are whole when a byte of
/// them is used, fit into the groups' limits and leave a quarter of what was
/// there at first, or 64 MiB, for other memory. Where no limit was set at the
/// first question, the answer costs nothing.
bool hugePagesFitGroup(uint64_t bytes);

} // namespace mpg

#endif // MPG_RUNTIME_CGROUP_H
