// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Elf/StringTable.h"
#include "Elf/ElfReader.h"
#include <cstring>

using namespace llvm;
using namespace mpg;

/// A page: the names of imports are spread over a large table, and those of a
/// small one come with the symbols in front of them.
static constexpr uint64_t pieceBytes = 4 << 10;

StringTable::StringTable(const ElfReader &reader, uint64_t offset,
                         uint64_t bytes)
    : reader(&reader), offset(offset) {
  if (bytes > maxTableBytes || offset > reader.bytes() ||
      bytes > reader.bytes() - offset)
    return;
  memory.reset(static_cast<char *>(malloc(bytes)));
  if (!memory)
    return;
  tableBytes = bytes;
  loaded.resize((bytes + pieceBytes - 1) / pieceBytes);
}

bool StringTable::load(uint64_t piece) {
  if (loaded[piece])
    return true;
  uint64_t start = piece * pieceBytes;
  uint64_t bytes = std::min(pieceBytes, tableBytes - start);
  loaded[piece] = reader->copy(
      offset + start,
      {reinterpret_cast<uint8_t *>(memory.get()) + start, size_t(bytes)});
  return loaded[piece];
}

std::optional<StringRef> StringTable::get(uint64_t index) {
  // The string may run on into the next pieces.
  for (uint64_t at = index; at < tableBytes;) {
    uint64_t piece = at / pieceBytes;
    if (!load(piece))
      return std::nullopt;
    uint64_t pieceEnd = std::min((piece + 1) * pieceBytes, tableBytes);
    const char *start = memory.get() + index;
    if (const void *end = memchr(memory.get() + at, 0, pieceEnd - at))
      return StringRef(start, static_cast<const char *>(end) - start);
    at = pieceEnd;
  }
  return std::nullopt;
}
