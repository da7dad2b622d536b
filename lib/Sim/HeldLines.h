// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines that are in every cache which a first cache asks. To use one of them
// evicts nothing and counts nothing. Many such uses leave only the order of the
// last uses, and which lines were changed. This remembers both once for all of
// these caches, and passes them on when another line is requested.

#pragma once

#include "Sim/SimMachine.h"
#include <algorithm>
#include <vector>

namespace mpg::sim {

class HeldLines {
public:
  /// \p lines: about as many as one of the caches has.
  explicit HeldLines(uint64_t lines)
      : mask((uint64_t(2) << exactLog2(lines)) - 1) {}

  /// All have \p line now, or will when they have answered.
  void add(uint64_t line) {
    if (entries.empty())
      entries.resize(mask + 1);
    entries[line & mask] = {line << stateBits, ++now};
  }
  /// One of them has evicted \p line.
  void drop(uint64_t line) {
    if (entries.empty())
      return;
    Entry &entry = entries[line & mask];
    if (entry.word >> stateBits == line)
      entry.time = 0;
  }
  /// pre: nothing waits.
  void clear() { clearedAt = now; }

  /// \p line is read, or marked as changed. False: it may be missing.
  bool use(uint64_t line, unsigned sector, bool isChange) {
    if (clearedAt == now)
      return false;
    Entry &entry = entries[line & mask];
    if (entry.word >> stateBits != line || entry.time <= clearedAt)
      return false;
    if (!(entry.word & (read | changed)))
      waiting.push_back(uint32_t(line & mask));
    if (isChange) {
      entry.word |= changed;
      return true;
    }
    entry = {line << stateBits | (entry.word & changed) | read | sector, ++now};
    return true;
  }

  bool areWaiting() const { return !waiting.empty(); }
  /// Calls \p visit(line, sector, isChange) for what waits, as if each line had
  /// been used once. pre: what it calls does not use lines.
  template <typename Visit> void settle(Visit visit) {
    std::sort(waiting.begin(), waiting.end(), [&](uint32_t a, uint32_t b) {
      return entries[a].time < entries[b].time;
    });
    for (uint32_t at : waiting) {
      uint64_t &word = entries[at].word;
      if (word & read)
        visit(word >> stateBits, unsigned(word & sectorBits), false);
      if (word & changed)
        visit(word >> stateBits, 0U, true);
      word &= ~(states - 1);
    }
    waiting.clear();
  }

private:
  static constexpr unsigned stateBits = 4;
  static constexpr uint64_t states = 1 << stateBits, sectorBits = 3, read = 4,
                            changed = 8;
  struct Entry {
    uint64_t word = ~uint64_t(0); ///< line, what waits, sector of the last use
    uint64_t time = 0;            ///< of the last use, or when it came
  };

  uint64_t mask;
  uint64_t now = 0, clearedAt = 0;
  std::vector<Entry> entries;
  std::vector<uint32_t> waiting; ///< entries with something that waits
};

} // namespace mpg::sim
