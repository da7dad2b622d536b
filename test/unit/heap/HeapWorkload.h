// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that uses the heap at random and checks its results: blocks have
// the requested length and alignment, do not overlap, are zero on request, and
// keep their contents. It uses the entry points only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

/// One thread's use of the heap.
class HeapWorkload {
public:
  struct Sizes {
    size_t maxMedium = 256 << 10;
    size_t maxLarge = 0; ///< 0: no block above maxMedium
  };

  /// \p mayFail: NULL with ENOMEM is an answer, too.
  HeapWorkload(unsigned seed, Sizes sizes, bool mayFail)
      : random(seed), sizes(sizes), mayFail(mayFail) {}

  /// Does \p count random things.
  void run(unsigned count);

  /// A block of random size with this workload's contents, for take() in
  /// another thread; null: there is none.
  struct Block {
    unsigned char *start = nullptr;
    size_t bytes = 0;
    unsigned char seed = 0;
  };
  Block make();
  /// Makes a block of another one's make() our own.
  void adopt(Block block);

  /// Frees everything.
  void finish();

  /// The first thing that was not as it should be; empty: none.
  const std::string &problem() const { return firstProblem; }
  uint64_t failures() const { return failed; } ///< NULL that was allowed
  size_t blockCount() const { return blocks.size(); }

private:
  size_t randomBytes();
  uint32_t below(uint32_t max) { return uint32_t(random()) % max; }
  unsigned char *allocate(size_t bytes);
  void change();
  void release(size_t index);
  void fill(Block &block, size_t from);
  void verify(const Block &block, size_t bytes, const char *when);
  void expectZero(const unsigned char *start, size_t bytes);
  void enter(const Block &block);
  void leave(const Block &block);
  void fail(const char *what, const void *where, size_t bytes);

  std::mt19937 random;
  Sizes sizes;
  bool mayFail;
  std::vector<Block> blocks;
  std::map<uintptr_t, uintptr_t> places; ///< start and end of each block
  std::string firstProblem;
  uint64_t failed = 0;
};
