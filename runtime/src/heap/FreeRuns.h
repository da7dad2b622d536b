// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs of free units (pages of a heap's arena, frames of its address range):
// two-level segregated fit. Allocation and free take constant time; neighbours
// merge at once. The bookkeeping is in a separate table with one entry for each
// unit. Only the first and the last entry of a run are used, and free memory
// itself is never touched.
//
// Not thread-safe: the owner of the runs holds a lock.

#pragma once

#include "base/Check.h"
#include <stddef.h>
#include <stdint.h>

namespace mpg {

enum class UnitState : uint8_t {
  inside, ///< in the middle of a run, or never used
  free,   ///< first or last unit of a free run
  used,   ///< first unit of a block in use
  cached, ///< first unit of a block that was freed and waits to be used again
  slabs,  ///< first unit of a frame that is divided into slabs
  packed, ///< first unit of a block in use that may share pages: HeapPacked.cpp
  packedFree, ///< the same after it was freed
  mapped,     ///< a frame that has memory
  lost,       ///< a frame whose addresses are or may be another mapping's
};

/// A value that other threads read without the writer's lock.
template <typename Value> class Shared {
public:
  Shared() = default;
  Shared(Value from) : value(from) {}
  Shared(const Shared &other) : value(other) {}
  Shared &operator=(const Shared &other) {
    Value from = other.value;
    __atomic_store(&value, &from, __ATOMIC_RELEASE);
    return *this;
  }
  operator Value() const {
    Value now;
    __atomic_load(&value, &now, __ATOMIC_ACQUIRE);
    return now;
  }

private:
  Value value;
};

/// One unit. Zero bytes are a valid entry: `inside`. Neighbours of another
/// owner are read without its lock: a reader that sees a free unit also sees
/// its owner.
struct UnitEntry {
  uint32_t length;   ///< of the run, in units, in its first and last entry
  uint32_t next;     ///< in its list; 0: none. In use: the owner's business
  uint32_t previous; ///< in its list; 0: none
  Shared<uint16_t> owner; ///< runs of different owners never become one
  uint8_t detail; ///< free: 1 if the memory is zero; else the owner's business
  Shared<UnitState> state; ///< last, see above

  /// Length, and above it `next`, as one number.
  uint64_t size() const {
    uint64_t both;
    __builtin_memcpy(&both, this, sizeof both);
    return both;
  }

  // Owner, detail, and state as one number.
  static constexpr uint32_t detailAt = 16, stateAt = 24; ///< bits

  uint32_t head() const {
    return __atomic_load_n(reinterpret_cast<const Head *>(&owner),
                           __ATOMIC_ACQUIRE);
  }
  void setHead(uint32_t to) {
    __atomic_store_n(reinterpret_cast<Head *>(&owner), to, __ATOMIC_RELEASE);
  }

private:
  using Head __attribute__((may_alias)) = uint32_t;
};

/// Puts \p unit of \p table in front of the list that begins with \p first.
inline void linkUnit(UnitEntry *table, uint32_t &first, uint32_t unit) {
  table[unit].next = first;
  table[unit].previous = 0;
  if (first)
    table[first].previous = unit;
  first = unit;
}

/// Takes \p unit out of that list. Its own links stay.
inline void unlinkUnit(UnitEntry *table, uint32_t &first, uint32_t unit) {
  const UnitEntry &entry = table[unit];
  if (entry.previous)
    table[entry.previous].next = entry.next;
  else
    first = entry.next;
  if (entry.next)
    table[entry.next].previous = entry.previous;
}
static_assert(sizeof(UnitEntry) == 16, "four in a cache line");
static_assert(offsetof(UnitEntry, owner) == 12, "head() reads to the end");

class FreeRuns {
public:
  struct Run {
    uint32_t first = 0; ///< 0: none
    uint32_t length = 0;
    bool isZero = false; ///< not written to since it was mapped
    uint32_t end() const { return first + length; }
  };

  /// \p table has an entry for each unit and outlives this object. Unit 0 and
  /// the last one of the table are never part of a run.
  void start(UnitEntry *table, uint16_t owner);

  /// Takes \p length units, the first of them a multiple of \p alignment (a
  /// power of two), out of a run that fits well. None: first is 0.
  /// pre: 0 < length, length + alignment < 2^32.
  Run acquire(uint32_t length, uint32_t alignment = 1) {
    MPG_CHECK(length > 0 && uint64_t(length) + alignment <= UINT32_MAX);
    MPG_CHECK((alignment & (alignment - 1)) == 0);
    bool isZero = false;
    uint32_t first = acquireUnits(length, alignment, isZero);
    return {first, first ? length : 0, isZero};
  }

  /// A free run that has such units, which stays free. None: first is 0.
  Run find(uint32_t length, uint32_t alignment) const;

  /// Takes \p length units at \p first if a free run of that length begins
  /// there.
  Run acquireAt(uint32_t first, uint32_t length);

  /// Takes [first, first + length) out of the free run \p run; the parts before
  /// and after it stay free.
  Run cut(Run run, uint32_t first, uint32_t length);

  /// Gives units back; returns the free run that they are part of now.
  Run recycle(Run run) {
    return runAt(recycleUnits(run.first, run.length, run.isZero));
  }

  /// The free run that ends before unit \p end; none: first is 0.
  Run endingAt(uint32_t end) const;

  uint64_t freeUnits() const { return total; }

  /// Calls \p visit with each run until it returns false. The runs must not
  /// change meanwhile.
  template <typename Visit> void forEach(Visit visit) const {
    for (uint32_t list : heads)
      for (uint32_t at = list; at; at = table[at].next)
        if (!visit(runAt(at)))
          return;
  }

  /// Takes all runs and calls \p visit with each, until it returns false.
  template <typename Visit> void drainEach(Visit visit) {
    for (uint32_t &list : heads)
      while (list) {
        Run run = runAt(list);
        remove(run);
        if (!visit(run))
          return;
      }
  }

private:
  static constexpr unsigned lowBits = 5;           // second level: 32 lists
  static constexpr unsigned lists = 1u << lowBits; // for each doubling
  static constexpr unsigned levels = 32 - lowBits + 1;

  static unsigned getList(uint32_t length);
  static unsigned listOfAtLeast(uint32_t length);
  Run runAt(uint32_t first) const {
    return {first, table[first].length, table[first].detail != 0};
  }

  // A Run that a call hands over in two registers is put together from parts on
  // the stack, and the processor waits for that: so the work is done here.
  uint32_t acquireUnits(uint32_t length, uint32_t alignment, bool &isZero);
  uint32_t recycleUnits(uint32_t first, uint32_t length, bool isZero);

  uint32_t search(uint32_t length, uint32_t alignment, unsigned max) const;
  uint32_t findIn(unsigned list, uint32_t length, uint32_t alignment,
                  unsigned max) const;
  uint32_t findAbove(unsigned list) const;
  void insert(Run run);
  void remove(Run run);
  void shorten(Run run, uint32_t length);

  UnitEntry *table = nullptr;
  uint16_t owner = 0;
  uint64_t total = 0;
  uint32_t levelBits = 0;         ///< levels that have a run
  uint32_t listBits[levels] = {}; ///< lists of a level that have one
  uint32_t heads[levels * lists] = {};
};

} // namespace mpg
