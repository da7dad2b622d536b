// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole loops at once. While every stream of a loop stays in its line, one
// iteration is like the next; when one has hit everywhere, the state after it
// is the state before it (for LRU after one such round, for FIFO always), so
// the rest need only be counted. This is exact.
//
// A loop that was unrolled has several sites on each array. Where they walk
// along the same lines, one after the other, all but the first do nothing:
// their line is the newest one of its set, their page the one that was used
// last, and what they would fetch ahead has just been fetched. They follow.

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
  cursors.clear();
  for (const Stream &stream : streams)
    addCursor({stream.site, stream.begin + bytes - rest, 0}, unsigned(rest));
  run(rest != 0);
}

void Core::addCursor(const Stream &stream, unsigned bytes) {
  uint64_t step = getStep(stream);
  // With a stride of a line or more no iteration stays.
  uint64_t inverse =
      step && step >> lineBits == 0 ? ~0U / unsigned(step) + 1 : 0;
  cursors.emplace_back(stream, inverse, bytes);
}

inline bool Core::leavesAtOnce(const Cursor &cursor) {
  return !cursor.inverse && cursor.stream.stride;
}

inline void Core::moveCursor(Cursor &cursor, uint64_t now) {
  if (leavesAtOnce(cursor)) {
    uint64_t address =
        cursor.stream.begin + uint64_t(cursor.stream.stride) * now;
    cursor.line = address >> lineBits;
    cursor.end = (address + cursor.bytes - 1) >> lineBits;
    cursor.next = now + 1;
    return;
  }
  uint64_t way = place(cursor, now, lineBits);
  // A division: lines have less than 2^16 bytes, so nothing is lost.
  uint64_t stays = (way * cursor.inverse >> 32) + 1;
  cursor.next = cursor.stream.stride ? now + stays : ~uint64_t(0);
}

/// To where they are in iteration \p now. \returns the first one in which a
/// stream leaves its line, at most \p times.
uint64_t Core::moveCursors(uint64_t now, uint64_t times) {
  uint64_t until = times;
  for (Cursor &cursor : cursors) {
    if (cursor.next == now)
      moveCursor(cursor, now);
    until = std::min(until, cursor.next);
  }
  return until;
}

bool Core::touchAll() {
  bool same = true;
  ++steps;
  for (const Cursor &cursor : cursors)
    same &= touch(cursor.stream.site, cursor.line, cursor.end);
  return same;
}

/// Whether the round that was just made would hit everywhere if it were made
/// again, and leave what it left. No TLB has changed in it. A least recently
/// used line that was touched in it is still there unless it was evicted; and
/// the order of a set is that of the last touches, unless a line was fetched
/// ahead into it.
bool Core::isSettled(uint64_t pageChangesBefore) const {
  if (!canSettle || hasTwins || pageChanges != pageChangesBefore)
    return false;
  auto isFilled = [this](uint64_t line) {
    return filledSets >> (line & firstMask & 63) & 1;
  };
  for (const Cursor &cursor : cursors)
    if (isFilled(cursor.line) || isFilled(cursor.end))
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
  filledSets = 0;
  if (touchAll() || times == 1 || isSettled(pageChangesBefore))
    return;
  for (uint64_t round = 1; round < times && !touchAll(); ++round)
    ;
}

/// Whether both have the same lines all the time: lines begin at multiples of
/// the stride, and both stay between two.
bool Core::haveSameLines(const Cursor &leader, const Cursor &cursor) const {
  uint64_t step = getStep(cursor.stream);
  if (cursor.stream.stride != leader.stream.stride ||
      (!cursor.inverse && step >> lineBits != 1) || step & (step - 1))
    return false;
  auto isInBlock = [&](uint64_t address) {
    return ((leader.stream.begin ^ address) & -step) == 0;
  };
  return isInBlock(leader.stream.begin + leader.bytes - 1) &&
         isInBlock(cursor.stream.begin) &&
         isInBlock(cursor.stream.begin + cursor.bytes - 1);
}

/// Whether \p cursor, next to \p leader in order, does nothing.
bool Core::isLedBy(const Cursor &leader, const Cursor &cursor) const {
  const Slot &first = slots[leader.stream.site];
  const Slot &slot = slots[cursor.stream.site];
  return haveSameLines(leader, cursor) &&
         (first.key & slot.keyMask) == slot.key;
}

/// A loop that was unrolled: where the second half of its body is like the
/// first, its turns are as many again of half the body.
void Core::halveBody() {
  turns = 1;
  for (size_t half = cursors.size() / 2; half && cursors.size() == 2 * half;
       half /= 2, turns *= 2) {
    for (size_t at = 0; at < half; ++at)
      if (cursors[at].stream.site != cursors[half + at].stream.site ||
          !haveSameLines(cursors[at], cursors[half + at]))
        return;
    cursors.erase(cursors.begin() + ptrdiff_t(half), cursors.end());
  }
}

/// Finds which site leads which. Several instructions of one source line on one
/// array are one site. A site with two leaders goes to and fro between their
/// lines: then none follows.
void Core::findLeaders() {
  uint64_t runsBefore = runs;
  hasTwins = false;
  size_t leader = 0;
  for (size_t at = 0; at < cursors.size(); ++at) {
    Cursor &cursor = cursors[at];
    cursor.isLed = at && canFollow && isLedBy(cursors[leader], cursor);
    if (!cursor.isLed) {
      leader = at;
      ++runs;
    }
    Slot &slot = slots[cursor.stream.site];
    hasTwins |= slot.isSpecial() || (slot.run > runsBefore && slot.run != runs);
    slot.run = runs;
  }
}

/// After the first line, where each has fetched ahead what is its own.
void Core::dropFollowers() {
  followers.clear();
  if (hasTwins)
    return;
  size_t kept = 0;
  for (size_t at = 1; at < cursors.size(); ++at) {
    if (cursors[at].isLed)
      followers.push_back({cursors[at].stream.site, cursors[kept].stream.site});
    else
      cursors[++kept] = cursors[at];
  }
  cursors.erase(cursors.begin() + ptrdiff_t(kept) + 1, cursors.end());
}

void Core::run(uint64_t times) {
  if (!times)
    return;
  begin();
  for (const Cursor &cursor : cursors)
    slots[cursor.stream.site].accesses += times;
  halveBody();
  findLeaders();
  bool isAlong = std::any_of(cursors.begin(), cursors.end(), leavesAtOnce);
  bool hasPeriod = findPeriod(times);
  pagesApart = hasPeriod || canLookUpPagesApart(times, isAlong);
  if (isAlong && !hasPeriod)
    runEachOrRepeat(times);
  else
    runLines(times);
  if (pagesApart)
    runPages(times);
}

/// Iteration by iteration: a stream is in another line in each.
void Core::runEach(uint64_t times) {
  for (uint64_t now = 0; now < times;) {
    for (Cursor &cursor : cursors) {
      if (cursor.next == now)
        moveCursor(cursor, now);
      touch(cursor.stream.site, cursor.line, cursor.end);
    }
    if (!now)
      dropFollowers();
    now = runAlong(now + 1, times);
  }
  leadFollowers();
}

/// Iterations in which only the streams that are in another line each time find
/// something to do: the others stay in lines that are the newest of their sets,
/// and no line comes into these sets and no page is looked up meanwhile.
/// \returns the first iteration that is not like that.
uint64_t Core::runAlong(uint64_t now, uint64_t times) {
  auto getBit = [this](uint64_t line) {
    return uint64_t(1) << (line & firstMask & 63);
  };
  uint64_t staying = 0; // the sets of the others
  along.clear();
  for (Cursor &cursor : cursors) {
    const Slot &slot = slots[cursor.stream.site];
    if (leavesAtOnce(cursor)) {
      along.push_back(&cursor);
      if (hasTwins || getStep(cursor.stream) >> lineBits < 2)
        return now; // it may fetch ahead
      continue;
    }
    if (cursor.line != cursor.end || !isPageKnown(slot, cursor.line) ||
        !isNewest(cursor.line, slot.key, slot.keyMask))
      return now;
    staying |= getBit(cursor.line);
    times = std::min(times, cursor.next);
  }
  for (; now < times; ++now) {
    bool isQuick = true;
    for (Cursor *cursor : along) {
      moveCursor(*cursor, now);
      isQuick &= cursor->line == cursor->end &&
                 !(staying & getBit(cursor->line)) &&
                 isPageKnown(slots[cursor->stream.site], cursor->line);
    }
    if (!isQuick)
      return now;
    touchAlong();
  }
  return now;
}

/// Whether that pays: a look at the pages of all streams where one comes to
/// another page, in place of one at each line, or in each iteration if there
/// are more pages than a TLB has.
bool Core::canLookUpPagesApart(uint64_t times, bool isAlong) const {
  constexpr uint64_t minLines = 4; // on a page
  constexpr size_t minStreams = 8;
  uint64_t max = uint64_t(1) << (lineBits + pageShift);
  return times >= minLines && (isAlong || cursors.size() > minStreams) &&
         std::all_of(cursors.begin(), cursors.end(), [=](const Cursor &cursor) {
           return getStep(cursor.stream) * minLines <= max;
         });
}

void Core::leadFollowers() {
  for (const Follower &follower : followers)
    slots[follower.site].line = slots[follower.leader].line;
}

/// While all streams stay in their lines, one iteration is like the next.
void Core::runLines(uint64_t times) {
  collectsEvicted = true;
  uint64_t now = moveCursors(0, times);
  iterate(now * turns);
  if (now < times) {
    dropFollowers();
    while (now < times) {
      uint64_t until = std::min(moveCursors(now, times), period.next);
      iterate((until - now) * turns);
      now = until == period.next ? endPeriod(until, times) : until;
    }
    leadFollowers();
  }
  collectsEvicted = false;
}
