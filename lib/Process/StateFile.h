// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two sources of a report about a program that mpgrun started: the memory
// file that libmpg writes to, and the program's mappings in its last moment.

#pragma once

#include "Process/RunReport.h"
#include <sys/types.h>

namespace mpg {

/// A file for libmpg to write to, marked as ours; it is not closed on exec.
/// Below zero, and errno, if there is none; then libmpg stays silent. \p
/// withProcesses: with a table for the processes that the program starts. \p
/// withMappings: libmpg notes the mappings before most of the memory goes back.
int makeStateFile(bool withProcesses = false, bool withMappings = false);

/// Adds the processes of that table to \p report, if there is one.
void readProcesses(int fd, RunReport &report);

/// libmpg's messages in \p fd until now; null if it did not run.
std::unique_ptr<mpg_state> readStateFile(int fd);

/// A program's memory at one moment.
struct ProgramMemory {
  std::vector<MappedArea> areas;
  /// Before most of the memory went back; empty: libmpg has not noted it.
  std::vector<MappedArea> peakAreas;
  std::string image; ///< the program's file
  /// libmpg is in this program and writes to the state file.
  bool hasState = false;
  bool isTold = false; ///< libmpg read the list, as mpgrun may not
  std::vector<ProgramSegment> segments;
  HeapRange heap; ///< of libmpg, as its state file has it
};

/// Nothing if the mappings of \p pid may not be read. The kernel looks at every
/// page of it for that: it takes milliseconds for each GiB.
std::optional<ProgramMemory> readProgramMemory(pid_t pid, int stateFd);

/// For a program that may not be traced: asks libmpg to write its mappings at
/// its end.
void requestEnd(int stateFd);

/// The mappings that libmpg wrote at the end; nothing if mpgrun did not ask, or
/// the program ended by _exit or a signal, which skips libmpg's last step.
std::optional<ProgramMemory> readToldMemory(int stateFd);

/// Fills in the regions of \p report.
void addMemory(const ProgramMemory &memory, RunReport &report);

} // namespace mpg
