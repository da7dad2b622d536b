// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgaudit as plain data, and what the site's and the
// project's file add to it.

#pragma once

#include "Audit/Audit.h"
#include "Policy/Policy.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

enum class ReportFormat : uint8_t { text, line, json, jsonl, sarif, html };

/// The output of a run.
enum class RunMode : uint8_t { report, tree, recommend, forecast, diff };

/// Flags of the options that a configuration file may have; see Options.td.
enum FileFlag : unsigned {
  fileKey = 1 << 4,
  fileList = 1 << 5,
  filePath = 1 << 6
};

struct Options {
  AuditSettings settings;
  RunMode mode = RunMode::report;
  ReportFormat format = ReportFormat::text;
  std::optional<Severity> failOn = Severity::error; ///< nothing: never
  bool closure = true; ///< look at the libraries of programs
  bool recursive = false;
  bool stats = false;
  bool verbose = false;
  std::optional<bool> colour;     ///< nothing: where a terminal wants it
  bool requireLargePages = false; ///< of each program of the script
  unsigned jobs = 1;
  std::vector<std::string> operands;
  std::vector<std::string> files0From;
  std::string job;                   ///< the script's path; "": none
  std::vector<std::string> profiles; ///< for recommend
  std::vector<std::string> reports;  ///< for forecast
  std::optional<int> pid;
  std::vector<Suppression> suppressions;
  std::string baseline, writeBaseline; ///< paths; "": none
};

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, --explain, a usage error); \p status is then the
/// exit status.
std::optional<Options> parseOptions(int argc, char **argv, int &status);

// Configuration files. All of them are parsed options, to which one reader
// gives their meaning.

class ConfiguredOptions {
public:
  /// Both must live as long.
  ConfiguredOptions(const llvm::opt::OptTable &table,
                    const llvm::opt::InputArgList &commandLine)
      : table(table), commandLine(commandLine), all(commandLine) {}

  /// Reads the files that belong to the command line. pre: called once.
  llvm::Error read();

  /// In an order in which the last one of a kind counts.
  const llvm::opt::ArgList &args() const { return all; }
  /// "FILE:LINE: " of what a file says, else "".
  std::string getPlace(const llvm::opt::Arg *arg) const {
    return places.lookup(arg);
  }
  /// The files' accepted findings.
  std::vector<Suppression> suppressions;

private:
  llvm::Error readSite();
  llvm::Error readProject(const std::string &path);
  llvm::Expected<Configuration> readFile(const std::string &path,
                                         bool mayLock) const;
  llvm::Error lock(const Configuration &site);
  bool isLocked(llvm::StringRef key) const;
  bool isGiven(llvm::StringRef key) const;
  void add(const Configuration &file, const Configuration::Entry &entry);

  const llvm::opt::OptTable &table;
  const llvm::opt::InputArgList &commandLine;
  llvm::opt::DerivedArgList all;
  llvm::DenseMap<const llvm::opt::Arg *, std::string> places;
  std::vector<std::string> locked; ///< keys that only the site's file decides
};

/// Fills \p options. Returns the first error, "" when there is none; the others
/// usually follow from it.
std::string readOptions(const ConfiguredOptions &configured, Options &options);

// Accepted findings, from the options and the configuration file, applied to
// one report after the other.

class ProjectPolicy {
public:
  explicit ProjectPolicy(const Options &options);

  /// Reads the baseline that was asked for. Error: the text for the user.
  llvm::Error start();

  /// Takes out the findings that do not count. \p looked: what was looked for;
  /// null is everything. Thread-safe.
  void apply(std::vector<Finding> &findings, llvm::StringRef path,
             const FindingSet *looked = nullptr);

  /// Writes the baseline that was asked for.
  llvm::Error finish();

  unsigned takenOut() const { return removed; }
  /// Entries that have expired or that nothing needed.
  std::vector<std::string> complaints() const;

private:
  const Options &options;
  Suppressor suppressor;
  std::optional<Baseline> known;
  Baseline found;
  std::mutex mutex; ///< of found
  std::atomic<unsigned> removed{0};
};

} // namespace mpg
