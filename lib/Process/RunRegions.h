// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The regions of a program (its .data, .bss, heap, stacks and so on) and what
// each has on large pages, out of the kernel's list of its mappings. Nothing
// here reads a process.

#pragma once

#include "Process/Smaps.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

enum class RunRegion : uint8_t {
  data,
  bss,
  heap,
  stack,
  threadStack,
  threadHeap,
  mmap,
  library, ///< writable segments of shared libraries
  shared,
  text,        ///< the program's code
  rodata,      ///< the rest of its file that nobody writes to
  libraryText, ///< both, of libraries; with MPG_REMAP=all
};
constexpr size_t runRegionCount = size_t(RunRegion::libraryText) + 1;
llvm::StringRef regionName(RunRegion region);
/// Code and constants, whose large pages are the page cache's.
bool isOfPageCache(RunRegion region);
/// Bytes from which on memory on normal pages counts as missing: the two ends
/// of a region share large pages with others, heap and stack begin on normal
/// ones as well.
uint64_t forgivenBytes(RunRegion region);

struct RegionUse {
  RunRegion region;
  uint64_t mappedBytes = 0;  ///< addresses, in use or not
  uint64_t bytes = 0;        ///< in use
  uint64_t hugeBytes = 0;    ///< of these on large pages
  uint64_t poolBytes = 0;    ///< of these from the pool; others: transparent
  uint64_t unknownBytes = 0; ///< may be on large pages or not
  uint64_t middleBytes = 0;  ///< on transparent pages of 16 KiB to 1 MiB
  bool isMiddleKnown = true;
  uint64_t setAsideBytes = 0;  ///< reserved in the pool and not used
  uint64_t pagedInBytes = 0;   ///< touched by libmpg at the start
  uint64_t peakBytes = 0;      ///< in use at the peak, as far as it is known
  uint64_t peakHugeBytes = 0;  ///< of these on large pages then
  uint64_t pageBytes = 0;      ///< the largest page in it
  bool isCopied = false;       ///< code that is in no file (MPG_TEXT=copy)
  std::vector<uint64_t> nodes; ///< bytes on each NUMA node
  std::string reason;          ///< why not all of it; libmpg's words
  bool canMove = false; ///< library: a piece of it has a whole large page
};

/// A writable segment of the program as it lay in memory.
struct ProgramSegment {
  uint64_t start, fileEnd, end;
};

/// The writable segments of \p path, moved to where \p areas show the program.
/// \p mappedName is its name there; "" if that is \p path.
std::vector<ProgramSegment> locateSegments(const std::string &path,
                                           const std::vector<MappedArea> &areas,
                                           llvm::StringRef mappedName = "");

/// Whether \p name is the name of libmpg's state file, as /proc shows it.
bool isStateName(llvm::StringRef name);

/// Addresses that libmpg keeps for its heap; empty if malloc is not libmpg's.
struct HeapRange {
  uint64_t start = 0, end = 0;
  uint64_t tablesEnd = 0; ///< its tables lie after it
};

/// Regions of a process out of its mappings. pre: \p areas in order.
std::vector<RegionUse>
classifyAreas(const std::vector<MappedArea> &areas,
              const std::vector<ProgramSegment> &segments, HeapRange heap);

/// Code and constants of the program \p name, as \p areas have it; only what
/// has a large page and more. \p withLibraries: theirs, too, without the ends
/// that fill no large page.
std::vector<RegionUse> classifyText(const std::vector<MappedArea> &areas,
                                    llvm::StringRef name, bool withLibraries);

/// The region of mapping \p index of \p areas, if it is neither the program's
/// .data and .bss nor libmpg's heap. pre: \p areas in order.
RunRegion regionOfArea(const std::vector<MappedArea> &areas, size_t index);

} // namespace mpg
