// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fully associative TLB, first in first out. It is asked at nearly every
// access, so it is not searched: a table by hash says where a page was seen
// last, and how many pages of this hash there are. A page stays where it is
// until it leaves.

#ifndef MPG_SIM_FIFOTLB_H
#define MPG_SIM_FIFOTLB_H

#include <array>
#include <cstdint>
#include <vector>

namespace mpg::sim {

class FifoTlb {
public:
  explicit FifoTlb(unsigned entries) : pages(entries, ~uint64_t(0)) {}

  /// Whether \p page was there; it is now.
  bool access(uint64_t page) {
    Bucket &bucket = buckets[bucketOf(page)];
    if (pages[bucket.slot] == page)
      return true;
    if (bucket.count && find(page, bucket))
      return true;
    if (pages[oldest] != ~uint64_t(0))
      --buckets[bucketOf(pages[oldest])].count;
    pages[oldest] = page;
    ++bucket.count;
    bucket.slot = oldest;
    oldest = oldest + 1 == pages.size() ? 0 : oldest + 1;
    return false;
  }

private:
  struct Bucket {
    unsigned slot = 0;
    unsigned count = 0;
  };

  static unsigned bucketOf(uint64_t page) {
    return unsigned(page * 0x9e3779b97f4a7c15 >> 56);
  }

  bool find(uint64_t page, Bucket &bucket) {
    for (unsigned slot = 0; slot < pages.size(); ++slot)
      if (pages[slot] == page) {
        bucket.slot = slot;
        return true;
      }
    return false;
  }

  std::vector<uint64_t> pages;
  std::array<Bucket, 256> buckets = {};
  unsigned oldest = 0;
};

} // namespace mpg::sim

#endif // MPG_SIM_FIFOTLB_H
