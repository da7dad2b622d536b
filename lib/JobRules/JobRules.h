// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a job script: by itself, and together with the programs that it
// starts.

#pragma once

#include "Audit/Audit.h"
#include "Audit/PageMeans.h"
#include "JobScript/JobScript.h"

namespace mpg {

// JobVerdict.cpp: the one answer for a job: which memory of its programs will
// be on large pages, which will not, because of what, and the line to write. A
// report begins with it.

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
  /// A setting that may change that, because its value is not known here or a
  /// condition guards it: "line 2 (LD_PRELOAD) brings some"; "" if there is
  /// none.
  std::string unless;
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

struct JobSettings {
  /// The user's choice; else the script's batch system and programs decide.
  std::optional<Target> target;
  /// --memory: of one node for one job.
  std::optional<uint64_t> memoryBytes;
  FindingSet checks, named; ///< as in AuditSettings
  /// A program that gets no large page is an error (MPG241).
  bool requireLargePages = false;
};

/// A script and everything found in it.
struct JobReport {
  JobScript script;
  JobVerdict verdict;
  std::vector<Finding> findings;
};

/// Whether the script is for a machine with Fujitsu's library: #PJM, or that
/// library preloaded. Not where mpgrun or MPG_MODE say that ours is to act. The
/// variables XOS_MMM_L_ and FLIB_ say nothing: ours reads them, too.
bool isFugakuScript(const JobScript &script);

/// How Finding::sub of MPG239 begins where programs were not looked at because
/// of how they are started.
constexpr llvm::StringLiteral notUnderstoodSub = "not-understood: ";

/// Findings in the order of lines; Where::line says where.
std::vector<Finding> auditJob(const JobScript &script,
                              llvm::ArrayRef<LaunchedProgram> programs,
                              const JobVerdict &verdict,
                              const JobSettings &settings);

} // namespace mpg
