// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where pages lie in physical memory. A system hands out the page that is free,
// so which lines compete for a set of a physically indexed cache is chance. A
// map is drawn by a seed; counts of several maps show how much chance there is.

#ifndef MPG_SIM_PAGEFRAMES_H
#define MPG_SIM_PAGEFRAMES_H

#include <cstdint>

namespace mpg::sim {

/// The finaliser of splitmix64: a bijection of 64 bits.
inline uint64_t mixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// One map of pages of one size. Two pages may get one frame: lines keep their
/// virtual number, so that only their sets are the same then.
class PageFrames {
public:
  /// \p linesOfPage and \p frames are powers of two. Seed 0 is virtual =
  /// physical.
  PageFrames(uint64_t seed, uint64_t linesOfPage, uint64_t frames)
      : seed(seed), lineMask(linesOfPage - 1), frameMask(frames - 1) {}

  uint64_t physicalLine(uint64_t line) {
    if (!seed)
      return line;
    if (uint64_t page = line & ~lineMask; page != lastPage) {
      lastPage = page;
      uint64_t number = page / (lineMask + 1);
      lastFrame = (mixBits(number + seed * 0x9e3779b97f4a7c15) & frameMask) *
                  (lineMask + 1);
    }
    return lastFrame | (line & lineMask);
  }

private:
  uint64_t seed;
  uint64_t lineMask;
  uint64_t frameMask;
  uint64_t lastPage = ~uint64_t(0); ///< first line of the page
  uint64_t lastFrame = 0;
};

} // namespace mpg::sim

#endif // MPG_SIM_PAGEFRAMES_H
