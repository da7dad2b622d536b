// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reports that need all of a run at once: SARIF and HTML.

#ifndef MPG_RENDER_RUNRESULT_H
#define MPG_RENDER_RUNRESULT_H

#include "Audit/Report.h"
#include "JobRules/JobRules.h"

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// Everything that one run of mpgaudit found, after suppressions.
struct RunResult {
  std::vector<FileReport> files;
  std::optional<JobReport> job;
  unsigned suppressed = 0;
  /// One line for each input that could not be audited: "a.out: cannot be
  /// opened: no such file".
  std::vector<std::string> failures;
  /// The working folder, absolute. SARIF writes paths below it without it, so
  /// that two machines agree; "": paths stay as they are.
  std::string folder;
};

/// What code scanning services take at most in one run.
constexpr unsigned sarifResultLimit = 25000;

/// SARIF 2.1.0, on one line. Above the limit the least severe results are left
/// out, and a notification says how many.
void writeSarif(llvm::raw_ostream &out, const RunResult &result);

/// One self-contained page without scripts. It stays below about 24 MiB: of
/// very many files the worst are described, and the page says so.
void writeHtml(llvm::raw_ostream &out, const RunResult &result);

/// The line of the script, then its findings. \p programs: the reports of what
/// it starts; they are written before.
void writeJobText(llvm::raw_ostream &out, const JobReport &job,
                  llvm::ArrayRef<FileReport> programs, bool colour);

/// The object of the key "job" in the schema mpgaudit-1.
void writeJobJson(llvm::raw_ostream &out, const JobReport &job);

} // namespace mpg

#endif // MPG_RENDER_RUNRESULT_H
