// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FreeRuns.h. Each length below 32 has its own list; above that each
// doubling has 32 lists. A list that begins at or above the requested length
// holds only runs that fit, so its first one is taken. Before that, the list
// that contains the length itself is searched for a moment, because freed
// lengths are often requested again.
//
// Invariants: no two free runs of one owner touch; the first and the last entry
// of a free run are `free` and hold its length; no other entry is `free`.

#include "heap/FreeRuns.h"

using namespace mpg;

/// In place of `previous`, in the last entry of a run of two or more.
static constexpr uint32_t lastOfRun = UINT32_MAX;

static unsigned floorLog2(uint32_t value) {
  return 31u - unsigned(__builtin_clz(value));
}

void FreeRuns::start(UnitEntry *entries, uint16_t ownerNumber) {
  table = entries;
  owner = ownerNumber;
}

/// The list in which a run of \p length is.
unsigned FreeRuns::getList(uint32_t length) {
  if (length < lists)
    return length;
  unsigned high = floorLog2(length);
  return (high - lowBits + 1) * lists + (length >> (high - lowBits)) - lists;
}

/// The first list whose runs all have \p length or more.
unsigned FreeRuns::listOfAtLeast(uint32_t length) {
  if (length < lists)
    return length;
  uint32_t rest = (1u << (floorLog2(length) - lowBits)) - 1;
  return length > UINT32_MAX - rest ? levels * lists : getList(length + rest);
}

void FreeRuns::insert(Run run) {
  unsigned list = getList(run.length);
  table[run.end() - 1] = {run.length, 0,          lastOfRun,
                          owner,      run.isZero, UnitState::free};
  table[run.first] = {run.length, 0, 0, owner, run.isZero, UnitState::free};
  linkUnit(table, heads[list], run.first);
  listBits[list / lists] |= 1u << list % lists;
  levelBits |= 1u << list / lists;
  total += run.length;
}

void FreeRuns::remove(Run run) {
  unsigned list = getList(run.length);
  unlinkUnit(table, heads[list], run.first);
  if (!heads[list] && !(listBits[list / lists] &= ~(1u << list % lists)))
    levelBits &= ~(1u << list / lists);
  table[run.first].state = UnitState::inside;
  table[run.end() - 1].state = UnitState::inside;
  total -= run.length;
}

/// First of the units in \p run that satisfy \p alignment.
static uint32_t alignedIn(FreeRuns::Run run, uint32_t length,
                          uint32_t alignment) {
  uint64_t first =
      (uint64_t(run.first) + alignment - 1) & ~uint64_t(alignment - 1);
  return first + length <= run.end() ? uint32_t(first) : 0;
}

uint32_t FreeRuns::findIn(unsigned list, uint32_t length, uint32_t alignment,
                          unsigned max) const {
  for (uint32_t at = heads[list]; at && max; at = table[at].next, --max)
    if (alignedIn(runAt(at), length, alignment))
      return at;
  return 0;
}

/// The first run of \p list or of the next one that is not empty.
uint32_t FreeRuns::findAbove(unsigned list) const {
  if (list >= levels * lists)
    return 0;
  unsigned level = list / lists;
  uint32_t bits = listBits[level] & (UINT32_MAX << list % lists);
  if (!bits) {
    uint32_t above =
        level + 1 < 32 ? levelBits & (UINT32_MAX << (level + 1)) : 0;
    if (!above)
      return 0;
    level = unsigned(__builtin_ctz(above));
    bits = listBits[level];
  }
  return heads[level * lists + unsigned(__builtin_ctz(bits))];
}

/// Takes the front of a run whose rest belongs into the same list: it keeps its
/// place there.
void FreeRuns::shorten(Run run, uint32_t length) {
  UnitEntry entry = table[run.first];
  uint32_t rest = run.first + length;
  entry.length = run.length - length;
  if (entry.previous)
    table[entry.previous].next = rest;
  else
    heads[getList(entry.length)] = rest;
  if (entry.next)
    table[entry.next].previous = rest;
  table[run.first].state = UnitState::inside;
  table[run.end() - 1] = {entry.length, 0,          lastOfRun,
                          owner,        run.isZero, UnitState::free};
  table[rest] = entry;
  total -= length;
}

FreeRuns::Run FreeRuns::cut(Run run, uint32_t first, uint32_t length) {
  if (first == run.first && length < run.length &&
      getList(run.length - length) == getList(run.length)) {
    shorten(run, length);
    return {first, length, run.isZero};
  }
  remove(run);
  if (first > run.first)
    insert({run.first, first - run.first, run.isZero});
  if (first + length < run.end())
    insert({first + length, run.end() - first - length, run.isZero});
  return {first, length, run.isZero};
}

inline uint32_t FreeRuns::search(uint32_t length, uint32_t alignment,
                                 unsigned max) const {
  constexpr unsigned aMoment = 8;
  unsigned list = getList(length);
  uint32_t at = findIn(list, length, alignment, aMoment);
  if (!at)
    at = findAbove(listOfAtLeast(length + alignment - 1));
  if (!at) // before more memory is taken
    for (; list < listOfAtLeast(length + alignment - 1) && !at; ++list)
      at = findIn(list, length, alignment, max);
  return at;
}

FreeRuns::Run FreeRuns::find(uint32_t length, uint32_t alignment) const {
  uint32_t at = search(length, alignment, UINT32_MAX);
  return at ? runAt(at) : Run{};
}

// All in one, as recycleUnits(): no Run is handed over.
[[gnu::flatten]] uint32_t
FreeRuns::acquireUnits(uint32_t length, uint32_t alignment, bool &isZero) {
  constexpr unsigned thorough = 1000;
  uint32_t at = search(length, alignment, thorough);
  if (!at)
    return 0;
  Run run = runAt(at);
  uint32_t first = alignedIn(run, length, alignment);
  cut(run, first, length);
  isZero = run.isZero;
  return first;
}

FreeRuns::Run FreeRuns::acquireAt(uint32_t first, uint32_t length) {
  const UnitEntry &entry = table[first];
  if (entry.state != UnitState::free || entry.owner != owner ||
      entry.length < length || entry.previous == lastOfRun)
    return {};
  return cut(runAt(first), first, length);
}

FreeRuns::Run FreeRuns::endingAt(uint32_t end) const {
  const UnitEntry &last = table[end - 1];
  if (last.state != UnitState::free || last.owner != owner)
    return {};
  return runAt(end - last.length);
}

[[gnu::flatten]] uint32_t FreeRuns::recycleUnits(uint32_t first,
                                                 uint32_t length, bool isZero) {
  const UnitEntry &last = table[first - 1];
  if (last.state == UnitState::free && last.owner == owner) {
    Run before = runAt(first - last.length);
    remove(before);
    first = before.first;
    length += before.length;
    isZero &= before.isZero;
  }
  const UnitEntry &next = table[first + length];
  if (next.state == UnitState::free && next.owner == owner) {
    Run after = runAt(first + length);
    remove(after);
    length += after.length;
    isZero &= after.isZero;
  }
  insert({first, length, isZero});
  return first;
}
