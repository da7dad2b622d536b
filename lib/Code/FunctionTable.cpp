// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A binary search over the table in the file; it is never held in memory. All
// linkers write the same encodings, so other ones count as no table.

#include "Code/FunctionTable.h"
#include "llvm/Support/Endian.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;
using support::endian::read32le;

// Version 1; a 4-byte pointer to .eh_frame, a 4-byte count, then pairs of
// 4-byte offsets from the header: a function and what describes it.
static constexpr uint64_t headerBytes = 12, entryBytes = 8;

FunctionTable::FunctionTable(CodeRange header, CodeReader read)
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

std::optional<uint64_t> FunctionTable::startOf(uint64_t index) const {
  uint8_t bytes[4];
  if (!read(header.address + headerBytes + index * entryBytes, bytes))
    return std::nullopt;
  return header.address + int64_t(int32_t(read32le(bytes)));
}

std::optional<CodeRange> FunctionTable::functionAt(uint64_t address) const {
  // The last entry at or below the address is in front of `high`.
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    std::optional<uint64_t> start = startOf(middle);
    if (!start)
      return std::nullopt;
    if (*start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (high == 0 || high == count)
    return std::nullopt;
  std::optional<uint64_t> start = startOf(high - 1), end = startOf(high);
  if (!start || !end || *start > address || *end <= address)
    return std::nullopt;
  return CodeRange{*start, *end - *start};
}
