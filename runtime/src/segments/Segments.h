// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory of the program may move to large pages: the writable segments of
// its ELF files without RELRO, and of these the frames that hold nothing else.
// The loader's tables list the intended mappings, the memory map the actual
// ones; only what both agree on is moved.

#pragma once

#include "base/SelfMaps.h"

namespace mpg {

/// One writable PT_LOAD as mapped, without RELRO at its start.
struct Segment {
  Range range;           ///< as the program headers say, not rounded
  uintptr_t fileEnd = 0; ///< .data below, .bss from here on
  Range relro;
  bool isLibrary = false;

  Range data() const { return {range.start, fileEnd}; }
  Range bss() const { return {fileEnd, range.end}; }
};

/// The writable segments of the program, and with \p libraries those of its
/// libraries that hold a frame or more. Returns how many of them fit.
size_t findSegments(bool libraries, size_t hugePageBytes, Segment *segments,
                    size_t capacity);

/// Finds the frames of one segment that can be moved, out of the memory map.
class MovableFinder {
public:
  /// \p brk is the current end of the brk heap: it grows from there, so the
  /// frame that holds it must not be taken.
  MovableFinder(const Segment &segment, size_t hugePageBytes, size_t pageBytes,
                uintptr_t brk);

  /// The next mapping of the process, in the order of addresses.
  void see(const Mapping &mapping);
  /// No more mappings.
  void finish();

  static constexpr unsigned maxRanges = 16;
  Range ranges[maxRanges]; ///< whole frames, in order
  unsigned count = 0;

private:
  void add(Range usable);
  void closeStretch();
  void addGap(Range gap);

  const Segment segment;
  const size_t hugePageBytes;
  Range inside;  ///< the segment rounded out to pages
  Range outer;   ///< the segment rounded out to frames
  uintptr_t at;  ///< seen up to here
  Range stretch; ///< usable memory that is still growing
  bool mayGrowUp;
};

} // namespace mpg
