// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PagesNuma.h.

#include "pages/PagesNuma.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "mpg/advice.h"
#include "pages/Pages.h"
#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MPOL_F_NUMA_BALANCING // Linux 5.12
#define MPOL_F_NUMA_BALANCING (1 << 13)
#endif

using namespace mpg;

static constexpr int wordBits = 8 * sizeof(unsigned long);

NodeSet NodeSet::of(int node) {
  NodeSet nodes;
  nodes.add(node);
  return nodes;
}

bool NodeSet::has(int node) const {
  return node >= 0 && node < maxNodes &&
         (words[node / wordBits] >> node % wordBits & 1);
}

void NodeSet::add(int node) {
  if (node >= 0 && node < maxNodes)
    words[node / wordBits] |= 1UL << node % wordBits;
}

int NodeSet::count() const {
  int sum = 0;
  for (unsigned long word : words)
    for (; word; word &= word - 1)
      ++sum;
  return sum;
}

bool mpg::hasMemoryPolicy() {
  int mode = MPOL_DEFAULT;
  return !isError(rawCall(SYS_get_mempolicy, long(&mode), 0, 0, 0, 0)) &&
         mode != MPOL_DEFAULT;
}

NodeSet mpg::allowedNodes() {
  NodeSet nodes;
  if (!isError(rawCall(SYS_get_mempolicy, 0, long(nodes.words),
                       NodeSet::maxNodes, 0, MPOL_F_MEMS_ALLOWED)))
    return nodes;
  // Containers forbid the call.
  static constexpr char key[] = "Mems_allowed_list:\t";
  LineReader lines("/proc/self/status");
  while (const char *line = lines.next())
    if (strncmp(line, key, sizeof key - 1) == 0) {
      cpu_set_t list;
      static_assert(sizeof list == sizeof nodes.words);
      parseCpuList(line + sizeof key - 1, list);
      memcpy(nodes.words, &list, sizeof list);
      return nodes;
    }
  return NodeSet::of(0);
}

static int getPolicy(Placement placement) {
  switch (placement) {
  case Placement::bind:
    return MPOL_BIND;
  case Placement::prefer:
    return MPOL_PREFERRED;
  case Placement::interleave:
    return MPOL_INTERLEAVE;
  }
  return MPOL_DEFAULT;
}

int mpg::place(Range range, Placement placement, const NodeSet &nodes) {
  // The kernel reads one bit less than the given number.
  long result = rawCall(SYS_mbind, long(range.start), long(range.bytes()),
                        getPolicy(placement), long(nodes.words),
                        NodeSet::maxNodes + 1, 0);
  return toError(result);
}

int mpg::nodeHere() {
  unsigned cpu, node;
  return isError(rawCall(SYS_getcpu, long(&cpu), long(&node), 0)) ? -1
                                                                  : int(node);
}

// Mappings

/// hugetlb memory always has the name of a file, anonymous_hugepage at least.
static bool hasFileName(const Mapping &mapping) {
  return mapping.name[0] == '/';
}

/// smaps has the page sizes, but it visits every page for that, which takes
/// long: read it only if there can be pages other than base pages.
static bool mayHaveLargePages(Range range) {
  SelfMaps maps;
  Mapping mapping;
  while (maps.next(mapping) && mapping.range.start < range.end)
    if (mapping.range.overlaps(range) && hasFileName(mapping))
      return true;
  return false;
}

Extents::Extents(Range range)
    : range(range), withSizes(mayHaveLargePages(range)),
      lines(withSizes ? "/proc/self/smaps" : "/proc/self/maps") {}

/// From the lines of smaps below a mapping.
static size_t readPageBytes(LineReader &lines) {
  uint64_t bytes;
  while (const char *line = lines.next())
    if (parseSize(line, "KernelPageSize:", bytes))
      return bytes;
  return 0;
}

/// Files that live in memory only.
static bool isMemory(const char *name) {
  static constexpr const char *const starts[] = {"/memfd:", "/SYSV",
                                                 "/dev/zero", "/dev/shm/"};
  for (const char *start : starts)
    if (strncmp(name, start, strlen(start)) == 0)
      return true;
  return false;
}

bool Extents::next(Extent &extent) {
  Mapping mapping;
  while (const char *line = lines.next()) {
    if (!parseMapping(line, mapping) || mapping.range.end <= range.start)
      continue;
    if (mapping.range.start >= range.end)
      return false;
    extent.range.start =
        mapping.range.start > range.start ? mapping.range.start : range.start;
    extent.range.end =
        mapping.range.end < range.end ? mapping.range.end : range.end;
    extent.writable = mapping.writable;
    size_t pageBytes = withSizes ? readPageBytes(lines) : 0;
    extent.pageBytes = pageBytes ? pageBytes : basePageBytes();
    extent.reachesDisk = mapping.shared && hasFileName(mapping) &&
                         !isMemory(mapping.name) &&
                         extent.pageBytes == basePageBytes();
    return true;
  }
  return false;
}

size_t mpg::writablePages(Range &range) {
  Range pages{roundDown(range.start, basePageBytes()),
              roundUp(range.end, basePageBytes())};
  Range whole = pages;
  uintptr_t known = pages.start;
  size_t pageBytes = 0;
  Extents extents(pages);
  Extent extent;
  while (known < pages.end && extents.next(extent)) {
    if (extent.range.start > known || !extent.writable || extent.reachesDisk)
      return 0;
    if (extent.range.start == pages.start)
      whole.start = roundDown(pages.start, extent.pageBytes);
    if (extent.range.end == pages.end)
      whole.end = roundUp(pages.end, extent.pageBytes);
    if (extent.pageBytes > pageBytes)
      pageBytes = extent.pageBytes;
    known = extent.range.end;
  }
  if (known < pages.end)
    return 0;
  range = whole;
  return pageBytes;
}

// Pages that are present

void mpg::pageInHere(Range range, size_t pageBytes) {
  if (range.empty())
    return;
  if (adviseMemory(range, MPG_ADVICE_POPULATE_WRITE) != EINVAL)
    return;
  // Before Linux 5.14: one word of each page, until it cannot be written.
  for (uintptr_t at = range.start; at < range.end && touchWord(at);)
    at = roundDown(at, pageBytes) + pageBytes;
}

int mpg::getNodes(const uintptr_t *pages, size_t count, int *nodes) {
  return toError(
      rawCall(SYS_move_pages, 0, long(count), long(pages), 0, long(nodes), 0));
}

int mpg::movePages(const uintptr_t *pages, size_t count, int node,
                   int *states) {
  int nodes[maxPagesMoved];
  for (size_t i = 0; i < count; ++i)
    nodes[i] = node;
  long result = rawCall(SYS_move_pages, 0, long(count), long(pages),
                        long(nodes), long(states), MPOL_MF_MOVE);
  if (isError(result))
    return int(-result);
  return result > 0 ? -1 : 0;
}

bool mpg::balancesNodes() {
  LineReader lines("/proc/sys/kernel/numa_balancing");
  const char *line = lines.next();
  uint64_t value;
  // 2 is for tiers of memory alone.
  return line && parseNumber(line, 10, value) && (value & 1);
}

int mpg::leaveToBalancing(Range range) {
  // Memory without a policy uses the process's; if that is the default one, the
  // balancing works already.
  long result = rawCall(SYS_mbind, long(range.start), long(range.bytes()),
                        MPOL_DEFAULT, 0, 0, 0);
  if (!isError(result) && hasMemoryPolicy()) {
    NodeSet nodes = allowedNodes();
    result = rawCall(SYS_mbind, long(range.start), long(range.bytes()),
                     MPOL_BIND | MPOL_F_NUMA_BALANCING, long(nodes.words),
                     NodeSet::maxNodes + 1, 0);
  }
  return toError(result);
}

void mpg::returnFrames(Range range) {
  // Through libc, for the libraries that watch memory going away (MPI).
  if (!range.empty())
    munmap(reinterpret_cast<void *>(range.start), range.bytes());
}
