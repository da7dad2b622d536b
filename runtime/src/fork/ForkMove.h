// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves memory off hugetlb pages, for good: before a fork, and for a call for
// single pages (BasePages.h); or leaves it there, and gives the child a copy,
// which is made in the parent before the fork and moved into its place in the
// child: the parent keeps its frames, whoever writes first.

#ifndef MPG_RUNTIME_FORKMOVE_H
#define MPG_RUNTIME_FORKMOVE_H

#include "fork/ForkList.h"

namespace mpg {

/// Moves all of \p list, the stack in use included. Returns 0 or
/// an errno value; then the rest is where it was. What was moved keeps its
/// contents and rights. pre: no other thread runs, signals are blocked.
int moveOffLargePages(const ForkList &list);

/// The same for one stretch. pre: the stack in use is not in it.
int moveOffLargePages(const ForkStretch &stretch);

/// Normal pages to run on while the stack in use is replaced. Null if there is
/// no memory for them. One user at a time.
void *ownStackTop();
/// Unless it is in use: each fork would copy its page tables.
void discardOwnStack();

/// What a child gets in place of its parent's frames, and nothing else of them.
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

/// Until release, the first fault in a child calls \p moveIn; all other signals
/// go to the program. pre: all signals are blocked, and no other thread
/// forks.
void catchFaults(void (*moveIn)());
void releaseFaults();

} // namespace mpg

#endif // MPG_RUNTIME_FORKMOVE_H
