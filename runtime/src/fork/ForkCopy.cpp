// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One mapping holds the copies of all stretches, one behind the other, so that
// a heap in thousands of pieces does not take thousands of mappings twice.
//
// Other threads may write while the copy is made. The child sees some of that,
// or not; it has none of these threads, and what their locks guard it may not
// use in any case. The forking thread's own writes are all in it.
//
// MADV_DONTFORK stays on the memory: the program may have asked for it as well
// (ibv_reg_mr() does), and then it must not be taken back.

#include "fork/ForkCopy.h"

#include "base/Syscall.h"
#include "segments/LargeSegments.h"

#include <errno.h>
#include <sys/mman.h>

using namespace mpg;

/// In a static program no child could go on without them.
static bool mustBeShared(const ForkStretch &stretch) {
  return stretch.owner == ForkOwner::segments && segmentsHoldLibraries();
}

int ForkCopy::reserve(Source source, size_t bytes, size_t granuleBytes) {
  if (int error = buildAway(source, bytes, granuleBytes, nullptr, memory))
    return error;
  if (source != Source::hugetlb ||
      populate(memory.range, granuleBytes) == bytes)
    return 0;
  discard();
  return ENOMEM;
}

bool ForkCopy::make(const ForkList &from) {
  if (from.bytes() > memory.range.bytes())
    return false;
  list = &from;
  uintptr_t to = memory.range.start;
  for (const ForkStretch &stretch : from) {
    if (mustBeShared(stretch))
      continue;
    for (Range rest = stretch.range; !rest.empty();) {
      bool touched;
      size_t run = touchedRun(rest, stretch.granuleBytes, touched);
      if (touched)
        copyPages(to, rest.start, run);
      rest.start += run;
      to += run;
    }
    rawCall(SYS_madvise, long(stretch.range.start), long(stretch.range.bytes()),
            MADV_DONTFORK);
  }
  return true;
}

void ForkCopy::moveIn() {
  if (!exists() || !list)
    return;
  uintptr_t from = memory.range.start;
  for (const ForkStretch &stretch : *list) {
    if (mustBeShared(stretch))
      continue;
    size_t bytes = stretch.range.bytes();
    Away piece{{from, from + bytes}, memory.source, -1};
    moveInto(piece, stretch.range.start, stretch.granuleBytes);
    constexpr int readWrite = PROT_READ | PROT_WRITE;
    if (stretch.rights != readWrite)
      rawCall(SYS_mprotect, long(stretch.range.start), long(bytes),
              stretch.rights);
    from += bytes;
  }
  memory.range.start = from;
  discard(); // what was too much
}

void ForkCopy::discard() {
  mpg::discard(memory);
  list = nullptr;
}
