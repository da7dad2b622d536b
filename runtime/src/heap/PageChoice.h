// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by use which pages the new memory of an arena gets, where these are
// transparent: large ones, or base pages for programs that write to little of
// their blocks. Some first memory is a sample on base pages. When the arena
// grows again, the sample shows how much of it the program has written.
//
// Not thread-safe: the arena's lock is held.

#ifndef MPG_RUNTIME_PAGECHOICE_H
#define MPG_RUNTIME_PAGECHOICE_H

#include "heap/HeapSpace.h"

namespace mpg {

/// For one kind of blocks, which are written alike.
class PageChoice {
public:
  /// \p enough: samples that decide that the use is sparse.
  explicit constexpr PageChoice(uint8_t enough) : enough(enough) {}

  /// The pages of the memory that comes next.
  HeapPages choose();

  /// \p memory has come as choose() said.
  void note(Range memory, HeapPages pages);

  /// \p memory goes back to the system.
  void forget(Range memory);

private:
  enum class Use : uint8_t {
    unknown,
    sparse,
    dense, ///< or not known after some looks; final
  };
  static constexpr unsigned maxSamples = 4;

  void inspect();
  void enlarge(unsigned sample, bool isFull);

  Use use = Use::unknown;
  uint8_t enough;
  uint8_t taken = 0; ///< samples before it is known
  uint8_t looks = 0; ///< that did not decide
  uint8_t next = 0;  ///< sample to replace
  Range samples[maxSamples];
};

} // namespace mpg

#endif // MPG_RUNTIME_PAGECHOICE_H
