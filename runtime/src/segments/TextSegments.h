// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code and constants of the program and its libraries: segments that nobody
// writes to and that hold at least a frame.

#pragma once

#include "base/Range.h"

struct dl_phdr_info; // NOLINT(readability-identifier-naming): the C library's

namespace mpg {

struct TextSegment {
  Range range;           ///< as in the file
  uint64_t offset;       ///< of its start in the file
  uintptr_t loadAddress; ///< to be added to addresses of the file
  const char *file;      ///< "": the program; else as the loader names it
  bool isCode;
  bool hasRelocations; ///< the loader writes to it
  bool isGuarded;      ///< AArch64: branches must find landing pads (BTI)
  bool holdsUs;        ///< this library's code is in it

  /// The file that the kernel has mapped there; 0 if that is not what the
  /// loader's tables say: a program may have put its own memory there.
  uint64_t findInode() const;
  /// Whole frames in memory.
  Range frames() const { return innerHugeFrames(range, hugeFrameBytes); }
  /// Whether these are whole frames of the file as well.
  bool isAligned() const {
    return (range.start - offset) % hugeFrameBytes == 0;
  }
  const char *path() const { return *file ? file : "/proc/self/exe"; }
};

/// The segments, by the loader's tables.
class TextSegments {
public:
  /// \p libraries: those of the libraries, too.
  explicit TextSegments(bool libraries);
  TextSegment *begin() { return segments; }
  TextSegment *end() { return segments + count; }

private:
  static int addObject(dl_phdr_info *info, size_t, void *self);
  void add(const dl_phdr_info &info);

  static constexpr size_t max = 64;
  const bool libraries;
  bool isFirst = true; ///< the program comes first
  size_t count = 0;
  TextSegment segments[max];
};

} // namespace mpg
