// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which array an address belongs to: a variable of the program, its stack, a
// block of the heap by where it was allocated, or memory without a name.

#pragma once

#include "Sim/Model.h"
#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace mpg::sim {

struct SimArray {
  enum Kind : uint8_t { other, global, stack, heap };
  Kind kind = other;
  std::string name; ///< of a heap block: of its variable; may be empty
  std::string file; ///< heap: where it is allocated
  unsigned line = 0;
  /// heap: names the array and no other one; may be empty
  std::string key;
  std::string distinction;                ///< heap: \see BlockOrigin
  uint64_t bytes = 0;                     ///< heap: the most at one time
  unsigned liveBlocks = 0, maxBlocks = 0; ///< heap: now, at one time
  uint64_t liveBytes = 0;
};

class SimArrays {
public:
  /// Addresses from begin to end, which belong to one array.
  struct Range {
    uint64_t begin, end;
    unsigned array;
  };

  SimArrays();
  /// Ignores \p bytes of 0. Replaces arrays that were there before.
  unsigned add(const SimArray &array, uint64_t begin, uint64_t bytes);
  /// A block of the array \p number, which add has returned.
  void addBlock(unsigned number, uint64_t begin, uint64_t bytes);
  /// Before a block is added that lies in another: what is beside it there
  /// stays what it is.
  void split(uint64_t begin, uint64_t bytes);
  void remove(uint64_t begin);
  void distinguish(unsigned number, const std::string &key,
                   const std::string &distinction);
  /// The widest range of \p address, which holds until the next change.
  Range find(uint64_t address) const;
  /// Grows with each change.
  uint64_t changes() const { return changeCount; }

  const SimArray &array(unsigned number) const { return arrays[number]; }
  unsigned count() const { return unsigned(arrays.size()); }

private:
  struct Block {
    uint64_t end;
    unsigned array;
  };
  void makeRoom(uint64_t begin, uint64_t end);
  void erase(std::map<uint64_t, Block>::iterator block);

  std::vector<SimArray> arrays; ///< 0: memory without a name
  std::map<uint64_t, Block> blocks;
  uint64_t changeCount = 1;
};

// Pages of arrays. Which 4 KiB of the 2 MiB pages that an array touches are
// used: what large pages take of memory beyond what the program needs (hot
// bloat).

/// Pages of each size with an access.
struct PageUse {
  uint64_t of4K = 0, of64K = 0, of2M = 0;
};

/// Where the used parts of 2 MiB pages lie.
struct PageHeat {
  static constexpr unsigned parts = 32; ///< of 64 KiB in each
  uint64_t pagesEach = 0;               ///< 2 MiB pages in a row, by address
  /// Percent of the 4 KiB of each part.
  std::vector<std::vector<uint8_t>> rows;
};

class SimPageUse {
public:
  static constexpr unsigned pageBits = 12;
  void add(unsigned array, uint64_t address) {
    uint64_t hugeFrame = address >> hugeFrameBits;
    Recent &one = recent[hugeFrame % recent.size()];
    if (one.hugeFrame != hugeFrame || one.array != array)
      find(array, hugeFrame, one);
    one.pages->set(address >> pageBits & (pagesEach - 1));
  }
  /// All bytes of [begin, end).
  void addRange(unsigned array, uint64_t begin, uint64_t end);
  /// A stream of an array whose pages are used: as they are by each that
  /// begins at most \c room bytes further on, and is not longer.
  struct Walked {
    uint64_t begin = 0, room = 0, times = 0;
    int64_t stride = 0;
  };
  /// \p times accesses. \p last, the array's last stream of the site, becomes
  /// this one.
  void addStream(unsigned array, const Stream &stream, uint64_t times,
                 Walked &last);
  /// By array; one without accesses may be missing at the end.
  std::vector<PageUse> byArray() const;
  /// In at most \p maxRows rows.
  PageHeat computeHeat(unsigned array, unsigned maxRows) const;

private:
  static constexpr unsigned hugeFrameBits = 21, pagesEach = 512;
  using Pages = std::bitset<pagesEach>;
  /// Where the pages of a 2 MiB page are, to search for it but once.
  struct Recent {
    uint64_t hugeFrame = ~uint64_t(0); ///< which no address has
    unsigned array = 0;
    Pages *pages = nullptr;
  };
  void find(unsigned array, uint64_t hugeFrame, Recent &one);
  /// Bytes from an address to the end of its page.
  static uint64_t roomAt(uint64_t address) {
    return ~address & ((1 << pageBits) - 1);
  }

  std::array<Recent, 1024> recent;
  /// By array, then by number of the 2 MiB page. A deque, as they must stay.
  std::deque<std::unordered_map<uint64_t, Pages>> used;
};

} // namespace mpg::sim
