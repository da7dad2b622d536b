// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running process, from /proc: its program, its environment and limits, and
// what of its memory is on large pages at this moment. The process is not
// stopped and not traced: a user who may read its files may look.

#pragma once

#include "Audit/Audit.h"
#include "Process/RunRegions.h"
#include "llvm/Support/Error.h"

namespace mpg {

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
  std::vector<RegionUse> regions;
};

/// Errors: no such process, no right to look at it, a zombie, a kernel thread,
/// a process that ended meanwhile; the text is the reason, with what to do.
llvm::Expected<LiveProcess> readProcess(int pid);

/// The table that follows the verdict.
void writeProcess(llvm::raw_ostream &out, const LiveProcess &process);
/// The value of the key "process" of the JSON report.
void writeProcessJson(llvm::raw_ostream &out, const LiveProcess &process);

} // namespace mpg
