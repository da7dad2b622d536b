// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why large pages are missing, in words that name a file and a number: the pool
// is empty, a cgroup's limit is reached, address space or stack limits, a
// kernel without the page size, THP switched off by the site. Looks only after
// a failure; a node where all is well pays nothing.

#pragma once

#include "base/Cgroup.h"
#include "base/Messages.h"
#include "pages/Pages.h"

namespace mpg {

/// Pages of one size, of the whole node.
struct Pool {
  bool exists = false; ///< the kernel offers this size
  uint64_t total = 0, free = 0, reserved = 0, surplus = 0, overcommit = 0;
  /// Pages that a new mapping could still reserve.
  uint64_t available() const;
};
Pool readPool(size_t hugeBytes);

/// True if reserved memory may fail when it is touched: a usage limit is set,
/// or the process is bound to some of the NUMA nodes (a reservation counts the
/// pages of all nodes). Whatever is only reserved has to be populated then.
bool reservationMayFail(size_t hugeBytes);

/// The same for the steps before main, which all ask. Keeps the first answer:
/// to read the list of mounts for it takes longer than all else there. pre: one
/// thread.
bool reservationMayFailAtStart(size_t hugeBytes);

/// The same now, cheaply: asks again only where the process has changed its
/// group or is bound to other nodes. pre: reservationMayFailAtStart() was
/// called for \p hugeBytes.
bool reservationMayFailNow(size_t hugeBytes);

/// A limit of this process on its address space or its data (ulimit -v, -d).
struct MemoryLimit {
  uint64_t bytes = UINT64_MAX; ///< of the one that leaves least; none
  uint64_t leftBytes = UINT64_MAX;
};
MemoryLimit readMemoryLimit();

/// Memory that the kernel may still commit to all processes together, if it
/// commits no more than there is (vm.overcommit_memory is 2); else UINT64_MAX.
/// Normal and transparent pages count from the mapping on, used or not; pool
/// pages never.
uint64_t readPromisesLeft();

/// Adds the cause of a failure to get \p missingBytes of \p source to \p line,
/// and after it the remedy: "the pool of 2 MiB pages is empty (0 of 1024 free);
/// fix: echo 1184 > /proc/sys/vm/nr_hugepages".
void explainShortage(LineBuffer &line, Source source, size_t hugeBytes,
                     uint64_t missingBytes, int error);

} // namespace mpg
