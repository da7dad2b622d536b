// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placement of memory: the part of Pages.h that deals with NUMA nodes. Raw
// system calls, no libnuma; a kernel without NUMA has one node, 0.

#pragma once

#include "base/Range.h"
#include "base/SelfMaps.h"

namespace mpg {

/// A set of nodes, as the kernel takes it.
struct NodeSet {
  static constexpr int maxNodes = 1024;
  unsigned long words[maxNodes / (8 * sizeof(unsigned long))] = {};

  static NodeSet of(int node);
  bool has(int node) const;
  void add(int node);
  int count() const;
};

/// Nodes from which this process may take memory; node 0 if unknown.
NodeSet allowedNodes();

/// Whether a policy already decides where this process's memory comes from
/// (set_mempolicy, as by numactl).
bool hasMemoryPolicy();

enum class Placement : uint8_t {
  bind,       ///< there or nowhere
  prefer,     ///< elsewhere when the node is full
  interleave, ///< page by page in turn
};

/// Sets the nodes for pages of \p range that are not present yet. Returns an
/// errno value.
int place(Range range, Placement placement, const NodeSet &nodes);

/// Part of one mapping.
struct Extent {
  Range range;
  size_t pageBytes; ///< size of its pages: of the base size unless hugetlb
  bool writable;
  bool reachesDisk; ///< what is written here is written to a file
};

/// The mappings in a range, in address order.
class Extents {
public:
  explicit Extents(Range range);
  /// False at the end, or when /proc is not there.
  bool next(Extent &extent);

private:
  Range range;
  bool withSizes;
  LineReader lines;
};

/// The node of the calling thread's CPU; -1 if unknown. The kernel may move the
/// thread a moment later, unless it is bound.
int nodeHere();

/// Size of the largest pages in \p range, which grows to whole pages, if all of
/// it is mapped and may be written to without a file being changed; else 0.
size_t writablePages(Range &range);

/// Makes \p range present as if the calling thread had written to it; contents
/// stay. Skips memory that cannot be made present or written; raises no signal.
/// pre: \p range is whole base pages; \p pageBytes is the size of its pages.
void pageInHere(Range range, size_t pageBytes);

/// The node of each of \p count pages, or a negative errno for one that is not
/// present. Returns an errno value.
int getNodes(const uintptr_t *pages, size_t count, int *nodes);

/// Calls \p visit with address and node of each present page of \p range, which
/// begins with a page, until it returns false. Returns an errno value.
template <typename Visit>
int visitPages(Range range, size_t pageBytes, Visit visit) {
  constexpr size_t batch = 256;
  uintptr_t pages[batch];
  int nodes[batch];
  while (!range.empty()) {
    size_t count = 0;
    for (; count < batch && !range.empty(); range.start += pageBytes)
      pages[count++] = range.start;
    if (int error = getNodes(pages, count, nodes))
      return error;
    for (size_t i = 0; i < count; ++i)
      if (nodes[i] >= 0 && !visit(pages[i], nodes[i]))
        return 0;
  }
  return 0;
}

constexpr size_t maxPagesMoved = 512;

/// Moves pages to \p node, each as a whole whatever its size, unless another
/// process maps it, too. \p states become the node of each page or a negative
/// errno, and stay unchanged for pages that were not reached. Returns 0, an
/// errno value, or -1 if the kernel stopped at a page that it cannot move. pre:
/// \p count is maxPagesMoved or less.
int movePages(const uintptr_t *pages, size_t count, int node, int *states);

/// Whether the kernel moves pages to the nodes of the threads that use them
/// (kernel.numa_balancing).
bool balancesNodes();

/// Lets that balancing have \p range, whatever policy holds its pages. Returns
/// an errno value.
int leaveToBalancing(Range range);

/// Returns whole unused pages to the system.
void returnFrames(Range range);

} // namespace mpg
