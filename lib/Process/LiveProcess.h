// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running process, from /proc: its program, its environment and limits, and
// what of its memory is on large pages at this moment. The process is not
// stopped and not traced: a user who may read its files may look.

#pragma once

#include "Audit/Audit.h"
#include "llvm/Support/Error.h"

namespace mpg {

/// How much of a region is on large pages now.
struct LiveRegion {
  /// A name of Region or, for what Region lacks, of RunRegion.
  llvm::StringRef name;
  uint64_t bytes = 0;         ///< addresses, in use or not
  uint64_t residentBytes = 0; ///< in use, or reserved on large pages
  uint64_t hugeBytes = 0;     ///< hugetlb and transparent
  uint64_t unknownBytes = 0;  ///< may be on large pages or not
  uint64_t pageBytes = 0;     ///< the largest page in it
};

struct LiveProcess {
  int pid = 0;
  /// To be opened. The file's own path where that is still the program that
  /// runs; below /proc/PID/root for a container; else /proc/PID/exe, which
  /// works although the file is gone.
  std::string program;
  std::string shownPath;   ///< as the process itself sees it
  bool isReplaced = false; ///< deleted or rebuilt since it was started
  unsigned threads = 1;    ///< now, with threads of libraries
  /// The environment as it was at the start: setenv is not seen from outside.
  /// The sysroot is /proc/PID/root for a process in a container.
  Launch launch;
  std::vector<LiveRegion> regions;
};

/// Errors: no such process, no right to look at it, a zombie, a kernel thread,
/// a process that ended meanwhile; the text is the reason, with what to do.
llvm::Expected<LiveProcess> readProcess(int pid);

/// The table that follows the verdict.
void writeProcess(llvm::raw_ostream &out, const LiveProcess &process);
/// The value of the key "process" of the JSON report.
void writeProcessJson(llvm::raw_ostream &out, const LiveProcess &process);

} // namespace mpg
