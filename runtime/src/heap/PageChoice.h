// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by use which pages the new memory of an arena gets, where these are
// transparent: large ones, or base pages for programs that write to little of
// their blocks. Some first memory is a sample on base pages. When the arena
// grows again, and now and then between, the sample shows how much of it the
// program has written. khugepaged, which takes up to ten seconds, makes the
// samples of long blocks large: the program may allocate nothing more.
//
// Not thread-safe: the arena's lock is held.

#pragma once

#include "heap/HeapSpace.h"

namespace mpg {

/// For one kind of blocks, which are written alike.
class PageChoice {
public:
  /// \p isLong: blocks of a large page and more. One of them, written at its
  /// head alone, does not decide for the others: that takes two samples.
  explicit constexpr PageChoice(bool isLong)
      : isLong(isLong), enough(isLong ? 2 : 1) {}

  /// The pages of the memory that comes next.
  HeapPages choose();

  /// Whether a block in the memory that comes next should begin with it: of a
  /// long one the first frame may be all that is written. The first block after
  /// the samples would begin on a large page at their end.
  bool wantsHead() const {
    bool isNext = use == Use::sparse ? taken == enough
                                     : use == Use::unknown && taken < enough;
    return isLong && isNext && heapSpace.mayWait();
  }

  /// The program writes to few pages of its blocks.
  bool isSparse() const { return use == Use::sparse; }

  /// How much of \p bytes of blocks is present, by the samples.
  uint64_t estimatePresent(uint64_t bytes) const {
    return isSparse() ? bytes / samplePages * sparsePages : bytes;
  }

  /// \p memory has come as choose() said.
  void note(Range memory, HeapPages pages);

  /// Called with each request to the arena: looks at the samples at ever fewer
  /// of them, and makes those large that are in use.
  void noteRequest() {
    if (taken && use != Use::dense && isPowerOfTwo(++requests))
      inspectBetween();
  }

  /// \p memory goes back to the system.
  void forget(Range memory);

private:
  enum class Use : uint8_t {
    unknown,
    sparse,
    dense, ///< or not known after some looks; final
  };
  static constexpr unsigned maxSamples = 4;
  static constexpr size_t samplePages = hugeFrameBytes / heapPageBytes;

  unsigned inspect();
  void inspectBetween();
  void enlargeAll();
  void enlarge(unsigned sample, bool isFull);

  Use use = Use::unknown;
  bool isLong;
  uint8_t enough;    ///< samples that decide that the use is sparse
  uint8_t taken = 0; ///< samples before it is known, and the one after them
  uint8_t looks = 0; ///< that did not decide
  uint8_t next = 0;  ///< sample to replace
  uint32_t requests = 0;
  size_t sparsePages = 0; ///< max present in a sample that is sparse
  Range samples[maxSamples];
};

} // namespace mpg
