// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which array an address belongs to: a variable of the program, its stack, a
// block of the heap by where it was allocated, or memory that nobody named.

#ifndef MPG_SIMRUN_SIMARRAYS_H
#define MPG_SIMRUN_SIMARRAYS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mpg::sim {

struct SimArray {
  enum Kind : uint8_t { other, global, stack, heap };
  Kind kind = other;
  std::string name; ///< of a heap block: of its variable; may be empty
  std::string file; ///< heap: where it is allocated
  unsigned line = 0;
  uint64_t bytes = 0; ///< heap: the most at one time
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
  /// \p bytes of 0 are nothing. What was there before is not any more.
  unsigned add(const SimArray &array, uint64_t begin, uint64_t bytes);
  /// A block of the array \p number, which add has returned.
  void addBlock(unsigned number, uint64_t begin, uint64_t bytes);
  void remove(uint64_t begin);
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

  std::vector<SimArray> arrays; ///< 0: memory that nobody named
  std::map<uint64_t, Block> blocks;
  uint64_t changeCount = 1;
};

} // namespace mpg::sim

#endif // MPG_SIMRUN_SIMARRAYS_H
