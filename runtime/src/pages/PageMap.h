// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of single pages of this process by /proc/self/pagemap, which has
// one 64-bit word for each base page.

#pragma once

#include "pages/Pages.h"

namespace mpg {

/// The pages of a frame of code.
enum class FilePresence : uint8_t {
  all,   ///< all are present, and the file's
  part,  ///< some are, and the file's
  owned, ///< the process has changed some: relocations, a breakpoint
  unknown,
};

/// The file, open.
class PageMap {
public:
  PageMap();
  ~PageMap();
  PageMap(const PageMap &) = delete;
  PageMap &operator=(const PageMap &) = delete;
  /// Whether any page of \p range has contents (present or swapped out); true
  /// if unknown. pre: \p range is whole base pages.
  bool isTouched(Range range) const;
  Presence readPresence(Range frame) const;
  /// pre: \p frame is a frame of a private mapping of a file.
  FilePresence readFilePresence(Range frame) const;
  /// Whether all of \p frames, of such a mapping, is on large pages of the
  /// file, by the kernel's word (Linux 6.7); false if unknown.
  bool isOnLargePages(Range frames) const;

private:
  static constexpr size_t maxPages = hugeFrameBytes / 4096; ///< of a frame
  bool readWords(uintptr_t start, size_t pages, uint64_t *words) const;
  size_t readFrame(Range frame, uint64_t (&words)[maxPages]) const;
  bool isReliable() const;
  bool describesUs() const;

  int fd;
};

} // namespace mpg
