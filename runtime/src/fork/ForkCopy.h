// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of memory on hugetlb pages, made in the parent before a fork() and
// moved into its place in the child, which gets nothing else of it: the parent
// keeps its frames, whoever writes first.

#ifndef MPG_RUNTIME_FORKCOPY_H
#define MPG_RUNTIME_FORKCOPY_H

#include "fork/ForkList.h"

namespace mpg {

class ForkCopy {
public:
  /// Memory for a copy of at most \p bytes; on hugetlb pages all of it is
  /// present. Returns 0 or an errno value.
  int reserve(Source source, size_t bytes, size_t granuleBytes);
  bool exists() const { return !memory.range.empty(); }

  /// Copies what is present of \p list, and lets no child inherit the memory
  /// itself. False if it does not fit. \p list must live as long as the copy.
  bool make(const ForkList &list);

  /// In the child: puts the copy in its place. Async-signal-safe; nothing
  /// happens when that was done.
  void moveIn();
  /// In the parent.
  void discard();

private:
  Away memory;
  const ForkList *list = nullptr;
};

} // namespace mpg

#endif // MPG_RUNTIME_FORKCOPY_H
