// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arrays get in each other's way in an L1 cache, by their addresses
// alone: what thresh counts beside the time. A loop reads all of them at one
// index; those that then lie in the same set need a way each, and where there
// are more of them than ways, each line is gone before its next element is
// read. Counted, not simulated: no prefetch, no order of replacement.

#pragma once

#include "Node/SysTree.h"
#include "llvm/ADT/ArrayRef.h"

namespace mpg {

/// A cache whose set is (address / lineBytes) % sets.
struct CacheShape {
  uint64_t sets, ways, lineBytes;
};

/// HW:a64fx-l1d-way
constexpr CacheShape a64fxL1d = {64, 4, 256};

/// The L1 data cache of the first CPU of \p tree; nothing if sysfs does not
/// tell, as on many AArch64 machines.
std::optional<CacheShape> readL1d(const SysTree &tree);

struct SetConflicts {
  /// Sets that hold, at one index or another, lines of more arrays than they
  /// have ways.
  uint64_t sets = 0;
  /// Most arrays that meet in one set at one index.
  uint64_t maxArrays = 0;
};

/// Of arrays of \p bytes that begin at \p starts and are read at equal offsets.
/// pre: they do not overlap; no number of \p shape is 0.
SetConflicts countConflicts(llvm::ArrayRef<uint64_t> starts, uint64_t bytes,
                            const CacheShape &shape);

} // namespace mpg
