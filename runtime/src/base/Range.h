// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A range of addresses, with rounding. Words: a page is what the kernel maps; a
// frame is a slot for one large page: addresses of its size and alignment (2
// MiB unless XOS_MMM_L_HUGETLB_SZ sets another size); a region is a part of the
// program as its user knows it (.data, .bss, a stack).

#pragma once

#include "base/Check.h"
#include <stddef.h>
#include <stdint.h>

namespace mpg {

/// Bytes of a frame: of transparent huge pages where base pages are 4 KiB
/// (HW:huge-sizes-4k), and of pool pages unless the user sets another size.
constexpr size_t hugeFrameBytes = 2 << 20;

struct Range {
  uintptr_t start = 0;
  uintptr_t end = 0; ///< one past the last address

  size_t bytes() const { return end > start ? end - start : 0; }
  bool empty() const { return end <= start; }
  bool contains(uintptr_t address) const {
    return address >= start && address < end;
  }
  bool overlaps(Range other) const {
    return start < other.end && other.start < end;
  }
};

/// What \p a and \p b have in common.
inline Range common(Range a, Range b) {
  return {a.start > b.start ? a.start : b.start, a.end < b.end ? a.end : b.end};
}

constexpr bool isPowerOfTwo(size_t value) {
  return value && (value & (value - 1)) == 0;
}

constexpr uintptr_t roundDown(uintptr_t value, size_t unit) {
  MPG_CHECK(isPowerOfTwo(unit));
  return value & ~(uintptr_t(unit) - 1);
}

/// The result must not wrap.
constexpr uintptr_t roundUp(uintptr_t value, size_t unit) {
  MPG_CHECK(isPowerOfTwo(unit) && value + unit - 1 >= value);
  return (value + unit - 1) & ~(uintptr_t(unit) - 1);
}

/// The whole frames inside \p range; empty if there are none.
inline Range innerHugeFrames(Range range, size_t hugePageBytes) {
  Range inner{roundUp(range.start, hugePageBytes),
              roundDown(range.end, hugePageBytes)};
  return inner.empty() ? Range{} : inner;
}

} // namespace mpg
