// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For reports and profiles of mpgrun --merge: where a file comes from, and when
// its memory stands out.

#ifndef MPG_TOOLS_MPGRUN_MERGE_MERGEFILE_H
#define MPG_TOOLS_MPGRUN_MERGE_MERGEFILE_H

#include "Process/RunRegions.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

/// As far as the file says it.
struct FilePlace {
  std::string host; ///< empty: not known
  std::optional<uint32_t> rank;
  uint32_t ranks = 0; ///< of the job; 0: not known
};

constexpr uint32_t wholeMillionths = 1000000;

/// Never 100 % while a byte is missing.
inline uint32_t getMillionths(uint64_t hugeBytes, uint64_t bytes) {
  if (hugeBytes >= bytes)
    return wholeMillionths;
  auto share = uint32_t(double(hugeBytes) / double(bytes) * wholeMillionths);
  return std::min(share, wholeMillionths - 1);
}

/// Whether \p bytes, of which \p hugeBytes are on large pages, lack so many
/// that they may stand out.
inline bool lacksPages(RunRegion region, uint64_t bytes, uint64_t hugeBytes) {
  return bytes >= hugeBytes && bytes - hugeBytes >= forgivenBytes(region);
}

/// Whether their share is ten points below the median, which \p median is in
/// millionths: less is what one page more or less makes.
inline bool isBelowMedian(uint64_t bytes, uint64_t hugeBytes, uint32_t median) {
  return getMillionths(hugeBytes, bytes) + wholeMillionths / 10 < median;
}

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_MERGE_MERGEFILE_H
