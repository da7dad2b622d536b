// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole loops at once. While every stream of a loop stays in its line, one
// iteration is like the next; when one has hit everywhere, the state behind it
// is the state before it (for LRU after one such round, for FIFO always), so
// the rest need only be counted. This is exact.

#include "Sim/CoreParts.h"
#include <algorithm>

using namespace mpg::sim;

static constexpr unsigned vectorBytes = 64;

void Core::affine(const std::vector<Stream> &streams, uint64_t times) {
  std::vector<Cursor> cursors;
  cursors.reserve(streams.size());
  for (const Stream &stream : streams)
    cursors.push_back({stream.site, model.sites[stream.site].bytes,
                       stream.begin, stream.stride, 0});
  run(cursors, times);
}

void Core::range(unsigned site, uint64_t begin, uint64_t bytes) {
  std::vector<Cursor> cursors = {{site, vectorBytes, begin, vectorBytes, 0}};
  run(cursors, bytes / vectorBytes);
  cursors[0].bytes = bytes % vectorBytes;
  run(cursors, bytes % vectorBytes != 0);
}

void Core::copy(unsigned from, uint64_t fromBegin, unsigned to,
                uint64_t toBegin, uint64_t bytes) {
  std::vector<Cursor> cursors = {{from, vectorBytes, fromBegin, vectorBytes, 0},
                                 {to, vectorBytes, toBegin, vectorBytes, 0}};
  run(cursors, bytes / vectorBytes);
  for (Cursor &cursor : cursors)
    cursor.bytes = bytes % vectorBytes;
  run(cursors, bytes % vectorBytes != 0);
}

/// Iterations, this one included, in which its first and last byte stay in the
/// lines where they are.
uint64_t Core::sameLines(const Cursor &cursor) const {
  if (cursor.stride == 0)
    return ~uint64_t(0);
  uint64_t mask = (uint64_t(1) << model.lineBits) - 1;
  uint64_t begin = cursor.address & mask;
  uint64_t end = (cursor.address + cursor.bytes - 1) & mask;
  uint64_t way =
      cursor.stride > 0 ? mask - std::max(begin, end) : std::min(begin, end);
  uint64_t step =
      cursor.stride > 0 ? uint64_t(cursor.stride) : -uint64_t(cursor.stride);
  return way / step + 1;
}

bool Core::touchAll(const std::vector<Cursor> &cursors) {
  bool same = true;
  for (const Cursor &cursor : cursors)
    same &= touch(cursor.site, cursor.address, cursor.bytes);
  return same;
}

void Core::run(std::vector<Cursor> &cursors, uint64_t times) {
  for (Cursor &cursor : cursors)
    cursor.left = 0;
  while (times) {
    uint64_t alike = times;
    for (Cursor &cursor : cursors) {
      if (!cursor.left)
        cursor.left = sameLines(cursor);
      alike = std::min(alike, cursor.left);
    }
    for (uint64_t round = 0; round < alike && !touchAll(cursors); ++round)
      ;
    for (Cursor &cursor : cursors) {
      row(cursor.site)[model.counters.accesses()] += alike;
      cursor.address += uint64_t(cursor.stride) * alike;
      cursor.left -= alike;
    }
    times -= alike;
  }
}
