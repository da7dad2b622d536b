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
  cursors.clear();
  for (const Stream &stream : streams)
    addCursor(stream, slots[stream.site].bytes);
  run(times);
}

void Core::range(unsigned site, uint64_t begin, uint64_t bytes) {
  copyVectors({{site, begin, vectorBytes}}, bytes);
}

void Core::copy(unsigned from, uint64_t fromBegin, unsigned to,
                uint64_t toBegin, uint64_t bytes) {
  copyVectors({{from, fromBegin, vectorBytes}, {to, toBegin, vectorBytes}},
              bytes);
}

void Core::copyVectors(std::initializer_list<Stream> streams, uint64_t bytes) {
  cursors.clear();
  for (const Stream &stream : streams)
    addCursor(stream, vectorBytes);
  run(bytes / vectorBytes);
  uint64_t rest = bytes % vectorBytes;
  if (!rest)
    return;
  for (Cursor &cursor : cursors) {
    cursor.stream.begin += bytes - rest;
    cursor.bytes = unsigned(rest);
  }
  run(1);
}

void Core::addCursor(const Stream &stream, unsigned bytes) {
  cursors.push_back({stream, bytes, noLine, noLine});
}

/// Iterations, the one at \p address included, in which the first and the last
/// byte stay in the lines where they are.
uint64_t Core::sameLines(const Cursor &cursor, uint64_t address) const {
  int64_t stride = cursor.stream.stride;
  if (stride == 0)
    return ~uint64_t(0);
  uint64_t mask = (uint64_t(1) << lineBits) - 1;
  uint64_t begin = address & mask;
  uint64_t end = (address + cursor.bytes - 1) & mask;
  uint64_t way =
      stride > 0 ? mask - std::max(begin, end) : std::min(begin, end);
  uint64_t step = stride > 0 ? uint64_t(stride) : -uint64_t(stride);
  // Most strides are less than a line: 32 bits are quicker.
  return step <= mask ? unsigned(way) / unsigned(step) + 1 : 1;
}

/// To where they are in iteration \p now. \returns the first one in which a
/// stream leaves its line, at most \p times.
uint64_t Core::moveCursors(uint64_t now, uint64_t times) {
  uint64_t until = times;
  for (size_t at = 0; at < cursors.size(); ++at) {
    if (nexts[at] == now) {
      Cursor &cursor = cursors[at];
      uint64_t address =
          cursor.stream.begin + uint64_t(cursor.stream.stride) * now;
      cursor.line = address >> lineBits;
      cursor.end = (address + cursor.bytes - 1) >> lineBits;
      uint64_t stays = sameLines(cursor, address);
      nexts[at] = stays < times - now ? now + stays : times;
    }
    until = std::min(until, nexts[at]);
  }
  return until;
}

bool Core::touchAll() {
  bool same = true;
  for (const Cursor &cursor : cursors)
    same &= touch(cursor.stream.site, cursor.line, cursor.end);
  return same;
}

/// Whether the round that was just made would hit everywhere if it were made
/// again, and leave what it left. No TLB has changed in it. A least recently
/// used line that was touched in it is still there unless it was evicted; and
/// the order of a set is that of the last touches.
bool Core::isSettled(uint64_t pageChangesBefore) const {
  if (!canSettle || hasTwins || pageChanges != pageChangesBefore)
    return false;
  for (uint64_t line : evicted)
    for (const Cursor &cursor : cursors)
      if (cursor.line == line || cursor.end == line)
        return false;
  return true;
}

/// \p times iterations that are alike.
void Core::iterate(uint64_t times) {
  uint64_t pageChangesBefore = pageChanges;
  evicted.clear();
  if (touchAll() || times == 1 || isSettled(pageChangesBefore))
    return;
  for (uint64_t round = 1; round < times && !touchAll(); ++round)
    ;
}

void Core::run(uint64_t times) {
  if (!times)
    return;
  ++runs;
  hasTwins = false;
  for (const Cursor &cursor : cursors) {
    Slot &slot = slots[cursor.stream.site];
    slot.accesses += times;
    hasTwins |= slot.run == runs;
    slot.run = runs;
  }
  nexts.assign(cursors.size(), 0);
  collectsEvicted = true;
  for (uint64_t now = 0; now < times;) {
    uint64_t until = moveCursors(now, times);
    iterate(until - now);
    now = until;
  }
  collectsEvicted = false;
}
