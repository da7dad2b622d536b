// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG_TEXT=copy: code and constants copied onto transparent large pages that
// the process has alone. It needs nothing of the link and the file system, and
// costs memory for each process. Profilers find the names of copied code in
// /tmp/perf-PID.map, as they do those of compilers at run time.

#pragma once

#include "segments/TextSegments.h"

namespace mpg {

/// Why this process gets no copies; null if it can have them.
const char *findObstacleToCopies();

/// Puts copies of the frames of \p segment in their place, with the same
/// contents and rights. \p hugeBytes receives what was copied; returns why not
/// all frames were, or null. pre: one thread; findObstacleToCopies() is null.
const char *copyText(const TextSegment &segment, uint64_t &hugeBytes);

/// The file /tmp/perf-PID.map of this process (PerfMap.cpp), which perf reads
/// for code that is in no file. Best effort.
class PerfMap {
public:
  PerfMap() = default;
  ~PerfMap();
  PerfMap(const PerfMap &) = delete;
  PerfMap &operator=(const PerfMap &) = delete;
  /// Adds the functions of \p segment, by the symbol table of its file.
  void add(const TextSegment &segment);

private:
  bool open();
  int fd = -1;
  bool wasTried = false;
};

} // namespace mpg
