// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a stretch of addresses is in use, by the kernel's own count. Takes
// milliseconds in a program with many mappings.

#ifndef MPG_RUNTIME_RANGEUSE_H
#define MPG_RUNTIME_RANGEUSE_H

#include "base/Range.h"

namespace mpg {

struct RangeUse {
  uint64_t bytes = 0;     ///< pages that are there, of any size
  uint64_t poolBytes = 0; ///< of these pages of the pool
  uint64_t thpBytes = 0;  ///< of these transparent huge pages
};

/// All 0 where /proc cannot be read.
RangeUse useOf(Range range);

} // namespace mpg

#endif // MPG_RUNTIME_RANGEUSE_H
