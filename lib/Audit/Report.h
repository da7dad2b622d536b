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
namespace json {
class OStream;
}
} // namespace llvm

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

/// Each finding with what, cost and fix; what writeText() does for a file.
void writeFindings(llvm::raw_ostream &out, llvm::StringRef path,
                   llvm::ArrayRef<Finding> findings, const FixContext &context,
                   bool colour);
/// "path: error: MPG103 (LPG 2003): title", as compilers print; with "path:3:"
/// for line 3.
void writeLines(llvm::raw_ostream &out, llvm::StringRef path,
                llvm::ArrayRef<Finding> findings, bool colour);
/// Why there is little or nothing to find in a file of \p kind, a sentence
/// without its full stop; empty if there is no such reason.
llvm::StringRef littleToFind(ElfKind kind);
/// "2 errors, 1 warning, 1 note", or "clean".
std::string verdictText(llvm::ArrayRef<Finding> findings);

/// One file object of the schema mpgaudit-1, on one line.
void writeJsonFile(llvm::raw_ostream &out, const FileReport &report);
/// What stands before and after the file objects of --format=json.
void writeJsonHead(llvm::raw_ostream &out, const AuditSettings &settings);
/// \p more: keys of the report beside "files" and their values, as JSON.
void writeJsonTail(
    llvm::raw_ostream &out,
    llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> more);
/// The value of a key "findings".
void writeJsonFindings(llvm::json::OStream &json,
                       llvm::ArrayRef<Finding> findings,
                       const FixContext &context);

/// What --explain prints for "MPG103" or "LPG 2003"; empty when there is no
/// such number. Its command lines name \p parts.
std::string explain(llvm::StringRef code, const InstalledParts &parts);

} // namespace mpg

#endif // MPG_AUDIT_REPORT_H
