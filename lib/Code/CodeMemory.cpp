// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows are aligned by address. Each one reaches a few bytes into the next,
// so that nothing is lost where two of them meet.

#include "Code/MachineCode.h"
#include "llvm/Support/Endian.h"
#include <algorithm>
#include <cassert>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

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

// Version 1; a 4-byte pointer to .eh_frame, a 4-byte count, then pairs of
// 4-byte offsets from the header: a function and what describes it.
static constexpr uint64_t headerBytes = 12, entryBytes = 8;

FrameTable::FrameTable(CodeRange header, CodeReader read)
    : header(header), read(read) {
  uint8_t bytes[headerBytes];
  if (header.bytes < headerBytes || !this->read(header.address, bytes))
    return;
  bool known = bytes[0] == 1 && (bytes[1] & 7) == 3 && bytes[2] == 0x03 &&
               bytes[3] == 0x3b;
  if (known)
    count = std::min<uint64_t>(read32le(bytes + 8),
                               (header.bytes - headerBytes) / entryBytes);
}

std::optional<uint64_t> FrameTable::getStart(uint64_t index) const {
  uint8_t bytes[4];
  if (!read(header.address + headerBytes + index * entryBytes, bytes))
    return std::nullopt;
  return header.address + int64_t(int32_t(read32le(bytes)));
}

std::optional<CodeRange> FrameTable::functionAt(uint64_t address) const {
  // The last entry at or below the address is in front of `high`.
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    std::optional<uint64_t> start = getStart(middle);
    if (!start)
      return std::nullopt;
    if (*start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (high == 0 || high == count)
    return std::nullopt;
  std::optional<uint64_t> start = getStart(high - 1), end = getStart(high);
  if (!start || !end || *start > address || *end <= address)
    return std::nullopt;
  return CodeRange{*start, *end - *start};
}
