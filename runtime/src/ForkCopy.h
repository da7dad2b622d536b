// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of memory on hugetlb pages on other pages, made in the parent before a
// fork() and moved into its place in the child.

#ifndef MPG_RUNTIME_FORKCOPY_H
#define MPG_RUNTIME_FORKCOPY_H

#include "ForkList.h"

namespace mpg {

/// Told of every piece that lies on other pages now.
using ForkMoved = void (*)(const ForkStretch &piece, Source source);

class ForkCopy {
public:
  /// Copies what is present of the stretches in \p list whose owner \p wanted
  /// says yes to. All or nothing. \p list must live as long as the copy.
  int make(const ForkList &list, bool (*wanted)(ForkOwner), Source source,
           size_t granuleBytes);
  bool exists() const { return !memory.range.empty(); }

  /// In the child: puts the copy in the place of all pages that it shares. What
  /// it has for itself by now stays: the C library writes to memory of the heap
  /// before our handlers come, and that is in no copy. True if nothing is on
  /// large pages any more. Async-signal-safe.
  bool moveIn(ForkMoved moved);

  /// In the parent.
  void discard();

private:
  bool moveStretch(const ForkStretch &stretch, uintptr_t from, ForkMoved moved);

  Away memory;
  const ForkList *list = nullptr;
  bool (*wanted)(ForkOwner) = nullptr;
  size_t granule = 0;
  bool canTell = false; ///< what /proc/self/pagemap says is true
};

/// In a child without a copy: normal pages in the place of granules of \p list
/// that nobody has touched. What the parent has reserved of the pool is not
/// reserved for its child.
void replaceUntouched(const ForkList &list, Source source, size_t granuleBytes,
                      ForkMoved moved);

} // namespace mpg

#endif // MPG_RUNTIME_FORKCOPY_H
