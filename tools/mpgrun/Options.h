// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgrun as plain data, and the environment that a program
// gets from mpgrun.

#pragma once

#include "Process/Program.h"
#include "mpgrun/Compare/CompareOutput.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

constexpr int exitNotVerified = 124;     ///< the program itself ended with 0
constexpr int exitNothingCompared = 124; ///< no two modes could be compared
constexpr int exitNothingMerged = 124;   ///< no file is a report
constexpr int exitOwnError = 125; ///< usage, or mpgrun could not do its job
constexpr int exitNotExecutable = 126; ///< the program is there
constexpr int exitNotFound = 127;

/// Whether \p word is a value of --mode and of MPG_MODE.
bool isMode(llvm::StringRef word);

struct RunOptions {
  std::string mode = "auto";
  bool modeGiven = false; ///< else MPG_MODE of the environment stays
  std::string policy;     ///< empty: not given
  std::string text;       ///< MPG_TEXT; empty: not given
  bool moves = false;     ///< pages to the nodes of the threads that use them
  bool children = false;
  std::optional<bool> hpcTags;
  bool report = false;
  std::string reportFile; ///< with %h, %r and %p in it; empty: none
  std::string jsonFile;   ///< the report as JSON; empty: none
  bool profile = false;
  bool advise = false;
  bool workingSet = false;
  std::string profileFile; ///< with %h, %r and %p in it; empty: standard error
  bool verify = false;
  bool verifyText = false;
  bool quiet = false; ///< --quiet
  bool printEnv = false;
  bool dryRun = false;
  std::vector<std::string> compareModes; ///< empty: nothing is compared
  unsigned rounds = 0;          ///< of a comparison; 0: until it is decided
  std::optional<uint32_t> seed; ///< of their order; nothing: any
  std::optional<Metric> metric; ///< nothing: times are compared
  std::string htmlFile;         ///< of a comparison or a profile; empty: none
  std::string
      dataFile; ///< JSON of a comparison, a profile or a merge; empty: none
  bool merge = false; ///< reports, of the files and folders in command
  bool isProfiling() const { return profile || advise; }
  bool isComparing() const { return !compareModes.empty(); }
  std::vector<std::string> typed;   ///< the options themselves
  std::vector<std::string> command; ///< the program and its arguments
};

/// Parses the command line; options end at the first word that is none. Returns
/// nothing after --help, --version or a usage error, which it prints; \p status
/// is then the exit status.
std::optional<RunOptions> parseOptions(int argc, char **argv, int &status);

// The program's environment

/// Names and values of variables to set.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// The settings for \p program with libmpg preloaded. \p mode: empty leaves
/// MPG_MODE as it is. \p stateFd: libmpg reports there, or below zero.
Settings libmpgSettings(const RunOptions &options, const Program &program,
                        const std::string &libraryPath, llvm::StringRef mode,
                        int stateFd);

/// The variable by which libibverbs is asked to survive a fork, if mpgrun has
/// to add the one for large pages; else null.
const char *rdmaForkVariable(const Program &program, llvm::StringRef mode);

/// Changes the environment of this process. Removes settings that an outer
/// mpgrun made for its program alone.
void applySettings(const Settings &settings, bool children);

/// The environment of this process with such changes, "NAME=VALUE".
std::vector<std::string> environmentWith(const Settings &settings,
                                         bool children);

} // namespace mpg
