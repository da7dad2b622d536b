// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reports as text, as one line per finding, and as JSON. Each writes one file's
// report; the caller puts them in order and says what the run was.

#ifndef MPG_AUDIT_REPORT_H
#define MPG_AUDIT_REPORT_H

#include "Audit/Audit.h"
#include <map>

namespace llvm {
class raw_ostream;
}

namespace mpg {

/// What many files together showed; grows file by file.
struct AuditTotals {
  unsigned files = 0;
  std::map<FindingId, std::map<Severity, unsigned>> findings;
  std::map<ElfKind, unsigned> kinds;

  void add(const FileReport &report);
  void add(const AuditTotals &other);
  unsigned count(Severity severity) const;
};

/// Every finding with what, cost and fix, then the table of regions.
void writeText(llvm::raw_ostream &out, const FileReport &report, bool colour);
/// For many files: one line when there is a warning or an error, else nothing.
void writeTextShort(llvm::raw_ostream &out, const FileReport &report,
                    bool colour);
/// For many files: how often each finding was reported.
void writeTotals(llvm::raw_ostream &out, const AuditTotals &totals,
                 bool colour);

/// "path: error: MPG103 (LPG 2003): title", as compilers print.
void writeLines(llvm::raw_ostream &out, const FileReport &report, bool colour);

/// One file object of the schema mpgaudit-1, on one line.
void writeJsonFile(llvm::raw_ostream &out, const FileReport &report);
/// What stands before and after the file objects of --format=json.
void writeJsonHead(llvm::raw_ostream &out, const AuditSettings &settings);
void writeJsonTail(llvm::raw_ostream &out);

/// What --explain prints for "MPG103" or "LPG 2003"; empty when there is no
/// such number. Its command lines name \p parts.
std::string explain(llvm::StringRef code, const InstalledParts &parts);

} // namespace mpg

#endif // MPG_AUDIT_REPORT_H
