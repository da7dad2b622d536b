// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fork() shares on hugetlb pages: the stretches of .data, .bss and heap
// that parent and child may write to, in the order of their addresses. There
// may be thousands of them, and nothing may be allocated at a fork: the list
// has memory of its own. Stacks are not in it (StackFork.h).

#ifndef MPG_RUNTIME_FORKLIST_H
#define MPG_RUNTIME_FORKLIST_H

#include "Pages.h"

namespace mpg {

enum class ForkOwner : uint8_t { segments, heap };

/// Memory of one owner and one mapping or several that touch; whole granules.
struct ForkStretch {
  Range range;
  ForkOwner owner;
};

/// Pages that are present, and those of them that an earlier child shares.
struct Needs {
  uint64_t presentBytes = 0, sharedBytes = 0;
};

class ForkList {
public:
  /// Finds what is still as libmpg left it. The program may have unmapped some
  /// of it, put something else in its place, or protected it: that is left
  /// alone. False if there is no memory for a list that holds everything.
  /// pre: nothing found, or discarded; the heap is locked.
  bool find();
  void discard();

  const ForkStretch *begin() const { return first; }
  const ForkStretch *end() const { return first + count; }
  Needs needsOf(ForkOwner owner, size_t granuleBytes) const;

private:
  void addOpen(const Range *run, const Range *lastRun);
  void add(Range range, ForkOwner owner);

  Away memory;
  ForkStretch *first = nullptr;
  size_t count = 0;
  bool complete = true;
};

/// Looks at single granules of this process in /proc/self/pagemap.
class GranuleMap {
public:
  GranuleMap();
  ~GranuleMap();
  GranuleMap(const GranuleMap &) = delete;
  GranuleMap &operator=(const GranuleMap &) = delete;
  /// Whether the large page at \p address is present and no other process has
  /// it. False if that cannot be told.
  bool isOnlyOurs(uintptr_t address) const;

private:
  int fd;
};

} // namespace mpg

#endif // MPG_RUNTIME_FORKLIST_H
