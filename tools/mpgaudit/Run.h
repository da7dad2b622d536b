// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run: every input audited, on several threads, and what was found printed
// in the order of the inputs.

#pragma once

#include "Import/Measurement.h"
#include "JobScript/JobScript.h"
#include "Options.h"
#include "Process/LiveProcess.h"
#include "Render/Report.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include <functional>

namespace mpg {

// Inputs (Inputs.cpp). From operands to the list of files to audit: plain
// names, @lists, a NUL-separated list, directories.

struct JobLaunch;

struct Input {
  std::string path;
  /// Found under a directory: skip it silently if it is not an ELF file.
  bool fromDirectory = false;
  /// How it will be started, if that is known; and which start of the job
  /// script that is.
  std::shared_ptr<const Launch> launch;
  const JobLaunch *start = nullptr;
  /// Other starts of the script that differ from it in nothing but the line.
  std::vector<const JobLaunch *> alike;
  bool fromScript = false; ///< only the script that starts it names it
  std::string shownPath;   ///< instead of path, where that means nothing
};

struct InputList {
  std::vector<Input> files;
  unsigned skippedLinks = 0;
  unsigned skippedSpecial = 0; ///< sockets, FIFOs, devices
};

/// Calls \p report(path, reason) for everything that cannot be read; the rest
/// of the list is complete. Directories are listed in the order of their
/// names, so that the order does not depend on the file system.
InputList
collectInputs(const Options &options,
              const std::function<void(const std::string &path,
                                       const std::string &reason)> &report);

/// Adds what --env says to the settings of \p script, and to all its starts,
/// for which it wins. \p given may be null.
void addGivenSettings(JobScript &script, const Launch *given);

/// Without files of the user's the programs that \p script starts and that are
/// here become inputs; files of the user's get the start that fits them best.
/// \p given: what --env and --sysroot say; it wins over the script. May be
/// null.
void addJobInputs(JobScript &script, const Launch *given,
                  std::vector<Input> &inputs);

/// Reports which programs were not audited, because they are in images that are
/// not folders here.
void noteImages(JobScript &script);

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
  void writeVerdict();
  void writeRecommendationsEnd();
  void writeForecastsEnd();
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
  void finish();
  bool fail(const std::string &path, llvm::StringRef reason);
  int exitStatus() const;
  bool keepsReports() const;
  bool isForPeople() const; ///< text or lines

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
