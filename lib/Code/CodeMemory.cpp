// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows are aligned by address. Each one reaches a few bytes into the next,
// so that nothing is lost where two of them meet.

#include "Code/CodeMemory.h"
#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace mpg;

CodeMemory::CodeMemory(ArrayRef<CodeRange> given, CodeReader read)
    : read(read), window(new uint8_t[windowBytes + overlapBytes]) {
  for (CodeRange range : given) {
    // A damaged file may claim bytes past the end of the address space.
    range.bytes = std::min(range.bytes, UINT64_MAX - range.address);
    if (range.bytes != 0)
      ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange &a, const CodeRange &b) {
              return a.address < b.address;
            });
}

uint64_t CodeMemory::spanBytes() const {
  if (ranges.empty())
    return 0;
  return ranges.back().address + ranges.back().bytes - ranges.front().address;
}

CodeMemory::Walk CodeMemory::visitWindow(const CodeRange &range, uint64_t start,
                                         uint64_t end,
                                         function_ref<bool(CodePiece)> visit) {
  uint64_t rangeEnd = range.address + range.bytes;
  uint64_t bytes = std::min(end - start + overlapBytes, rangeEnd - start);
  MutableArrayRef<uint8_t> buffer(window.get(), bytes);
  if (!read(start, buffer))
    return Walk::unreadable;
  return visit({start, buffer, start == range.address}) ? Walk::done
                                                        : Walk::stopped;
}

CodeMemory::Walk CodeMemory::forEachWindow(Order order,
                                           function_ref<bool(CodePiece)> visit,
                                           uint64_t from) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    bool ascending = order == Order::ascending;
    const CodeRange &range = ranges[ascending ? i : ranges.size() - 1 - i];
    uint64_t rangeEnd = range.address + range.bytes;
    uint64_t first = std::max(range.address / windowBytes, from / windowBytes);
    uint64_t last = (rangeEnd - 1) / windowBytes;
    for (uint64_t number = first; number <= last; ++number) {
      uint64_t current = ascending ? number : first + last - number;
      uint64_t start = std::max(range.address, current * windowBytes);
      uint64_t end = current == last ? rangeEnd : (current + 1) * windowBytes;
      Walk walk = visitWindow(range, start, end, visit);
      if (walk != Walk::done)
        return walk;
    }
  }
  return Walk::done;
}

CodePiece CodeMemory::around(uint64_t address, uint64_t before, uint64_t after,
                             MutableArrayRef<uint8_t> buffer) const {
  assert(before + after <= buffer.size());
  for (const CodeRange &range : ranges) {
    if (address < range.address || address - range.address >= range.bytes)
      continue;
    uint64_t start = address - std::min(before, address - range.address);
    uint64_t rest = range.bytes - (address - range.address);
    uint64_t bytes = address - start + std::min(after, rest);
    MutableArrayRef<uint8_t> piece = buffer.take_front(bytes);
    if (!read(start, piece))
      return {};
    return {start, piece, start == range.address};
  }
  return {};
}
