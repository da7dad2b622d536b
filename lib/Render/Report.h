// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports as text, as one line per finding, and as JSON, which are written file
// by file; the caller puts them in order and says what the run was. SARIF and
// HTML need all of a run at once.

#pragma once

#include "Audit/Audit.h"
#include "JobRules/JobRules.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

namespace mpg {

/// Sums over many files; grows file by file.
struct AuditTotals {
  unsigned files = 0;
  std::map<FindingId, std::map<Severity, unsigned>> findings;
  std::map<ElfKind, unsigned> kinds;

  void add(const FileReport &report);
  void add(const AuditTotals &other);
  unsigned count(Severity severity) const;
};

/// Every finding with what, cost and fix, then the table of regions. Where the
/// memory is heap, one line says so in place of the table, unless \p verbose.
void writeText(llvm::raw_ostream &out, const FileReport &report, bool colour,
               bool verbose = false);
/// For many files: one line when there is a warning or an error, else nothing.
void writeTextShort(llvm::raw_ostream &out, const FileReport &report,
                    bool colour);
/// For many files: how often each finding was reported.
void writeTotals(llvm::raw_ostream &out, const AuditTotals &totals,
                 bool colour);

/// "path: error: MPG103 (LPG 2003): title", as compilers print; with "path:3:"
/// for line 3.
void writeLines(llvm::raw_ostream &out, llvm::StringRef path,
                llvm::ArrayRef<Finding> findings, bool colour);
/// "error" and "2 errors", the worst first, without those that there are none.
std::vector<std::pair<llvm::StringRef, std::string>>
countBySeverity(llvm::ArrayRef<Finding> findings);
/// "all", "1.5 MiB", "no", "-" if the region is empty.
std::string eligibleWord(const Region &region);

/// Why a file of \p kind can have few findings or none, a sentence without its
/// full stop; empty for other kinds.
llvm::StringRef littleToFind(ElfKind kind);

/// One file object of the schema mpgaudit-1, on one line.
void writeJsonFile(llvm::raw_ostream &out, const FileReport &report);
/// The document around the file objects of --format=json.
void writeJsonHead(llvm::raw_ostream &out, const AuditSettings &settings);
/// \p more: keys of the report beside "files" and their values, as JSON.
void writeJsonTail(
    llvm::raw_ostream &out,
    llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> more);
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

/// Limit of code scanning services for results in one run.
constexpr unsigned sarifResultLimit = 25000;

/// SARIF 2.1.0, on one line. Above the limit the least severe results are left
/// out, and a notification says how many.
void writeSarif(llvm::raw_ostream &out, const RunResult &result);

/// One self-contained page without scripts. It stays below about 24 MiB: of
/// very many files the worst are described, and the page says so.
void writeHtml(llvm::raw_ostream &out, const RunResult &result);

/// The sentence that a report of a job begins with; and the same as a line
/// "job.sh: verdict: ...".
void writeVerdictText(llvm::raw_ostream &out, const JobReport &job,
                      bool colour);
void writeVerdictLine(llvm::raw_ostream &out, const JobReport &job);

/// The line of the script, then its findings. \p programs: the reports of what
/// it starts; they are written before.
void writeJobText(llvm::raw_ostream &out, const JobReport &job,
                  llvm::ArrayRef<FileReport> programs, bool colour);

/// The object of the key "job" in the schema mpgaudit-1.
void writeJobJson(llvm::raw_ostream &out, const JobReport &job);

} // namespace mpg
