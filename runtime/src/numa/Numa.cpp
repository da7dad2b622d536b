// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory on a NUMA node of the caller's choice: functions of <mpg/mpg.h> that a
// program calls itself.
//
// A reservation of large pages counts pages of all nodes together. Memory bound
// to a node whose own pool is empty would die with SIGBUS at its first touch.
// So it is made present here, and if that fails, other pages of the same node
// are used. Those are only preferred to be there, and then checked: the kernel
// kills a process that asks a full node for bound memory.

#include "numa/Numa.h"
#include "mpg/mpg.h"
#include "pages/LargeMemory.h"
#include "pages/Pages.h"
#include "pages/PagesNuma.h"
#include <errno.h>

using namespace mpg;

static Mode mode = Mode::none;

void mpg::startNuma(const Config &config) { mode = config.mode; }

namespace {

struct Wish {
  size_t bytes; ///< whole frames
  int node;     ///< -1: all of them in turn
};

} // namespace

/// Whether all present pages are on \p node.
static bool liesOn(int node, Range range) {
  bool isThere = true;
  int error = visitPages(range, basePageBytes(), [&](uintptr_t, int found) {
    return isThere = found == node;
  });
  return isThere && (!error || error == EPERM || error == ENOSYS); // unknown
}

/// Allocates \p wish, all of it present. Returns an errno value.
static int allocateFrom(Source source, Wish wish, void *&memory) {
  Staged staged;
  if (int error =
          buildStaged(source, wish.bytes, hugeFrameBytes, nullptr, staged))
    return error;
  bool isBound = source == Source::hugetlb;
  NodeSet nodes = allowedNodes();
  int error = 0;
  // Where there is one node only, a system that forbids to choose does no harm.
  bool isChoice = nodes.count() > 1;
  if (isChoice) {
    Placement placement = isBound ? Placement::bind : Placement::prefer;
    if (wish.node < 0)
      placement = Placement::interleave;
    else
      nodes = NodeSet::of(wish.node);
    error = place(staged.range, placement, nodes);
  }
  if (!error && populate(staged.range, hugeFrameBytes) != wish.bytes)
    error = ENOMEM;
  if (!error && isChoice && wish.node >= 0 && !isBound &&
      !liesOn(wish.node, staged.range))
    error = ENOMEM;
  if (!error && source == Source::hugetlb)
    noteLargeMemory(staged.range, hugeFrameBytes);
  if (error)
    discard(staged);
  else
    memory = reinterpret_cast<void *>(staged.range.start);
  return error;
}

static void *allocate(size_t bytes, int node) {
  if (bytes == 0 || bytes > SIZE_MAX / 2) {
    errno = bytes ? ENOMEM : EINVAL;
    return nullptr;
  }
  int before = errno;
  void *memory = nullptr;
  Wish wish{roundUp(bytes, hugeFrameBytes), node};
  bool large = mode == Mode::hugetlb || mode == Mode::automatic;
  bool transparent = mode == Mode::thp || mode == Mode::automatic;
  int error = ENOMEM;
  if (large)
    error = allocateFrom(Source::hugetlb, wish, memory);
  if (!memory)
    error =
        allocateFrom(transparent ? Source::thp : Source::normal, wish, memory);
  errno = memory ? before : error;
  return memory;
}

void *mpg_alloc_onnode(size_t bytes, int node) {
  if (!allowedNodes().has(node)) {
    errno = EINVAL;
    return nullptr;
  }
  return allocate(bytes, node);
}

void *mpg_interleave(size_t bytes) { return allocate(bytes, -1); }

void mpg_free_pages(void *memory, size_t bytes) {
  uintptr_t start = reinterpret_cast<uintptr_t>(memory);
  if (memory)
    returnFrames({start, start + roundUp(bytes, hugeFrameBytes)});
}
