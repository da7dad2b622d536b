// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a job script: by itself, and together with the programs that it
// starts.

#ifndef MPG_JOBRULES_JOBRULES_H
#define MPG_JOBRULES_JOBRULES_H

#include "Audit/Audit.h"
#include "JobRules/JobVerdict.h"
#include "JobScript/JobScript.h"

namespace mpg {

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

#endif // MPG_JOBRULES_JOBRULES_H
