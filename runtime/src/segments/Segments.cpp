// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Program headers through dl_iterate_phdr, which knows the load address of
// every kind of program (static and PIE included), against /proc/self/maps.

#include "segments/Segments.h"

#include <link.h>

using namespace mpg;

namespace {

struct Search {
  bool libraries;
  size_t hugePageBytes;
  Segment *segments;
  size_t capacity, count;
  bool isFirst; ///< the program itself comes first
};

} // namespace

static Range findRelro(const dl_phdr_info &info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO) {
      uintptr_t start = info.dlpi_addr + header.p_vaddr;
      return {start, start + header.p_memsz};
    }
  }
  return {};
}

static Segment makeSegment(const dl_phdr_info &info, const ElfW(Phdr) & header,
                           Range relro) {
  Segment segment;
  uintptr_t start = info.dlpi_addr + header.p_vaddr;
  segment.range = {start, start + header.p_memsz};
  segment.fileEnd = start + header.p_filesz;
  segment.relro = relro;
  if (relro.overlaps(segment.range) && relro.start <= start) {
    uintptr_t end =
        relro.end < segment.range.end ? relro.end : segment.range.end;
    segment.range.start = end;
    if (segment.fileEnd < end)
      segment.fileEnd = end;
  }
  return segment;
}

static int findInObject(dl_phdr_info *info, size_t, void *argument) {
  Search &search = *static_cast<Search *>(argument);
  bool isLibrary = !search.isFirst;
  search.isFirst = false;
  if (isLibrary && !search.libraries)
    return 1;
  Range relro = findRelro(*info);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || !(header.p_flags & PF_W))
      continue;
    Segment segment = makeSegment(*info, header, relro);
    segment.isLibrary = isLibrary;
    if (segment.range.empty() ||
        (isLibrary &&
         innerHugeFrames(segment.range, search.hugePageBytes).empty()))
      continue;
    if (search.count == search.capacity)
      return 1;
    search.segments[search.count++] = segment;
  }
  return 0;
}

size_t mpg::findSegments(bool libraries, size_t hugePageBytes,
                         Segment *segments, size_t capacity) {
  Search search{libraries, hugePageBytes, segments, capacity, 0, true};
  dl_iterate_phdr(findInObject, &search);
  return search.count;
}

// Against the memory map

MovableFinder::MovableFinder(const Segment &segment, size_t hugePageBytes,
                             size_t pageBytes, uintptr_t brk)
    : segment(segment), hugePageBytes(hugePageBytes),
      inside{roundDown(segment.range.start, pageBytes),
             roundUp(segment.range.end, pageBytes)},
      outer{roundDown(segment.range.start, hugePageBytes),
            roundUp(segment.range.end, hugePageBytes)},
      at(outer.start), mayGrowUp(brk < inside.end || brk >= outer.end) {
  // RELRO ends on a page; the page rounding must not reach back into it.
  if (inside.start < segment.relro.end && segment.relro.start < inside.start)
    inside.start = segment.relro.end;
}

void MovableFinder::closeStretch() {
  Range whole = innerHugeFrames(stretch, hugePageBytes);
  stretch = Range{};
  if (!whole.empty() && count < maxRanges)
    ranges[count++] = whole;
}

void MovableFinder::add(Range usable) {
  if (usable.empty())
    return;
  if (usable.start != stretch.end)
    closeStretch();
  if (stretch.empty())
    stretch.start = usable.start;
  stretch.end = usable.end;
}

/// Address space that is not in use may become a part of the first or the last
/// large page of the segment, if at least half of that page is the segment's:
/// large pages are too dear for a few bytes. A hole inside of the segment is a
/// mystery and stays.
void MovableFinder::addGap(Range gap) {
  bool isBelow = gap.end <= inside.start;
  uintptr_t edge = isBelow ? outer.start : outer.end - hugePageBytes;
  size_t ours = common({edge, edge + hugePageBytes}, inside).bytes();
  if (ours * 2 < hugePageBytes)
    return;
  if (isBelow || (gap.start >= inside.end && mayGrowUp))
    add(gap);
}

void MovableFinder::see(const Mapping &mapping) {
  Range range = common(mapping.range, outer);
  if (range.empty())
    return;
  if (range.start > at)
    addGap({at, range.start});
  at = range.end;
  bool isPlain = mapping.readable && mapping.writable && !mapping.executable &&
                 !mapping.shared;
  Range usable = common(range, inside);
  if (!isPlain || usable.empty())
    return;
  // RELRO in the middle would be unusual. Leave memory alone that the linker
  // wants read-only, even if it is still writable.
  Range relro = segment.relro;
  if (!relro.overlaps(usable)) {
    add(usable);
    return;
  }
  add({usable.start, relro.start});
  add({relro.end > usable.start ? relro.end : usable.start, usable.end});
}

void MovableFinder::finish() {
  if (at < outer.end)
    addGap({at, outer.end});
  closeStretch();
}
