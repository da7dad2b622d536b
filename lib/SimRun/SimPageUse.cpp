// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SimRun/SimPageUse.h"
#include <algorithm>
#include <map>

using namespace mpg::sim;

void SimPageUse::find(unsigned array, uint64_t frame, Recent &one) {
  if (array >= used.size())
    used.resize(array + 1);
  one = {frame, array, &used[array][frame]};
}

void SimPageUse::addRange(unsigned array, uint64_t begin, uint64_t end) {
  for (uint64_t page = begin >> pageBits; page << pageBits < end; ++page)
    add(array, page << pageBits);
}

/// What moves by a page or less leaves none out.
void SimPageUse::addStream(unsigned array, uint64_t begin, int64_t stride,
                           uint64_t times) {
  if (!times)
    return;
  uint64_t last = begin + uint64_t(stride) * (times - 1);
  if (stride >= -4096 && stride <= 4096)
    return addRange(array, std::min(begin, last), std::max(begin, last) + 1);
  for (uint64_t at = 0; at < times; ++at)
    add(array, begin + uint64_t(stride) * at);
}

std::vector<PageUse> SimPageUse::byArray() const {
  std::vector<PageUse> all;
  for (const auto &frames : used) {
    PageUse use;
    for (const auto &[number, pages] : frames) {
      ++use.of2M;
      use.of4K += pages.count();
      for (unsigned first = 0; first < pagesEach; first += 16) {
        bool isUsed = false;
        for (unsigned page = first; page < first + 16; ++page)
          isUsed |= pages[page];
        use.of64K += isUsed;
      }
    }
    all.push_back(use);
  }
  return all;
}

PageHeat SimPageUse::heatOf(unsigned array, unsigned mostRows) const {
  PageHeat heat;
  if (array >= used.size() || used[array].empty())
    return heat;
  std::map<uint64_t, const Pages *> byAddress;
  for (const auto &[number, pages] : used[array])
    byAddress[number] = &pages;
  static constexpr unsigned each = pagesEach / PageHeat::parts;
  heat.pagesEach = (byAddress.size() + mostRows - 1) / mostRows;
  std::vector<uint64_t> sums(PageHeat::parts);
  uint64_t inRow = 0, left = byAddress.size();
  for (const auto &[number, pages] : byAddress) {
    for (unsigned page = 0; page < pagesEach; ++page)
      sums[page / each] += (*pages)[page];
    --left;
    if (++inRow < heat.pagesEach && left)
      continue;
    std::vector<uint8_t> row;
    // What is used at all is not nothing.
    for (uint64_t &sum : sums) {
      row.push_back(uint8_t((100 * sum + inRow * each - 1) / (inRow * each)));
      sum = 0;
    }
    heat.rows.push_back(row);
    inRow = 0;
  }
  return heat;
}
