// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run: every input audited, on several threads, and what was found printed
// in the order of the inputs.

#ifndef MPG_TOOLS_MPGAUDIT_RUN_H
#define MPG_TOOLS_MPGAUDIT_RUN_H

#include "Import/Measurement.h"
#include "Inputs.h"
#include "Options.h"
#include "Process/LiveProcess.h"
#include "Render/RunResult.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace mpg {

/// A file or an archive member as it will be printed. Text has two forms; which
/// one is wanted is known only after many reports.
struct RenderedFile {
  std::string full;
  std::string brief;
};

/// One input's share of the output, made on any thread.
struct Rendered {
  std::vector<RenderedFile> files;
  std::string messages; ///< for standard error
  AuditTotals totals;
  Severity worst = Severity::off;
  bool failed = false; ///< unreadable or unusable
  bool skipped = false;
  bool startsUnknown = false; ///< a script that the job's script starts
  /// Where something at the end needs all of it.
  std::vector<FileReport> reports;
  const Input *input = nullptr; ///< that the reports are of
};

/// "mpgaudit: error: path: reason", with the line's end.
std::string errorLine(const std::string &path, llvm::StringRef reason);

/// Makes \p settings look at libraries, unless --no-closure. pre: they are
/// final.
void openLibraries(const Options &options, AuditSettings &settings);

class Run {
public:
  explicit Run(const Options &options);
  /// The exit status.
  int execute();

private:
  bool start();
  bool readScript();
  bool readLiveProcess();
  void readProfiles();
  bool isOfAnInput(const Measurement &measurement) const;
  void auditAll();
  Rendered audit(const Input &input);
  void writeAdvice(llvm::raw_ostream &out, const FileReport &report,
                   const Input &input) const;
  void writeRecommendationsEnd();
  void writeAdviceWithoutFiles();
  RenderedFile render(const FileReport &report, const Input &input) const;
  void emit(Rendered rendered);
  void noteFailure(llvm::StringRef line);
  void print(const Rendered &rendered);
  void printHeld();
  void keep(Rendered &rendered);
  void auditScript();
  void writeHead() const;
  void writeEnd();
  void writeJsonEnd();
  void printStats() const;
  bool finish();
  bool fail(const std::string &path, llvm::StringRef reason);
  int exitStatus() const;
  bool keepsReports() const;

  const Options &options;
  AuditSettings settings;
  ProjectPolicy policy;
  InputList inputs;
  bool colour = false;
  /// Read by the threads, so that full reports that will not be printed are not
  /// written; set by the one that prints.
  std::atomic<bool> many = false;
  llvm::StringSet<> printedOfJob;
  std::vector<Rendered> held;          ///< text, while it may still become many
  RunResult result;                    ///< its files: if keepsReports()
  std::vector<const Input *> reported; ///< the inputs of result.files
  llvm::DenseSet<const JobLaunch *> startsOfScripts;
  std::optional<LiveProcess> process;
  std::vector<Measurement> measurements;
  AuditTotals totals;
  Severity worst = Severity::off;
  bool failed = false;
  bool notUnderstood = false; ///< programs of the script were not looked at
  unsigned skippedNotElf = 0;
  unsigned reportsPrinted = 0;
};

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_RUN_H
