// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one answer for a job: which memory of its programs will be on large
// pages, which will not, because of what, and the line to write. A report
// begins with it.

#ifndef MPG_JOBRULES_JOBVERDICT_H
#define MPG_JOBRULES_JOBVERDICT_H

#include "Audit/PageMeans.h"
#include "JobScript/JobScript.h"

namespace mpg {

/// A program of the script and what mpgaudit says about its file.
struct LaunchedProgram {
  const JobLaunch *launch;
  const FileReport *report; ///< null: not found, or not audited
};

struct ProgramVerdict {
  std::string program;
  unsigned line;
  bool conditional = false;
  /// True if the program's file was read and is what will run.
  bool known = false;
  PageMeans means;
  /// Whose memory "mapped" is: "Python's objects (pymalloc)"; "" nobody's.
  std::string mapped;
  /// Why what is not on large pages is not; "" where all is.
  std::string because;
  /// The line that brings more to large pages; "" where none does.
  std::string write;
  std::string writeIn; ///< JobLaunch::writtenIn
};

struct JobVerdict {
  std::string sentence;
  std::vector<ProgramVerdict> programs; ///< each start once, in order
  /// The script starts nothing that large pages matter for.
  bool startsNothing = false;

  /// Some memory of some program will be on large pages.
  bool givesAny() const;
};

/// \p isForVendor: programs that are not here are for a machine with Fujitsu's
/// library.
JobVerdict judgeJob(const JobScript &script,
                    llvm::ArrayRef<LaunchedProgram> programs, bool isForVendor);

/// Writes into each launch of \p script what its launchers and the program's
/// own words set: the mode of mpgrun, hugectl's variables, an option that is
/// about memory.
void applyLaunchers(JobScript &script);

} // namespace mpg

#endif // MPG_JOBRULES_JOBVERDICT_H
