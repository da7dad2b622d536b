// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgrun as plain data.

#ifndef MPG_TOOLS_MPGRUN_OPTIONS_H
#define MPG_TOOLS_MPGRUN_OPTIONS_H

#include "mpgrun/Compare/CompareMetric.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

constexpr int exitNotVerified = 124;     ///< the program itself ended with 0
constexpr int exitNothingCompared = 124; ///< no two modes could be compared
constexpr int exitOwnError = 125; ///< usage, or mpgrun could not do its job
constexpr int exitNotExecutable = 126; ///< the program is there
constexpr int exitNotFound = 127;

/// Whether \p word is a value of --mode and of MPG_MODE.
bool isMode(llvm::StringRef word);

struct RunOptions {
  std::string mode = "auto";
  bool modeGiven = false; ///< else MPG_MODE of the environment stays
  std::string policy;     ///< empty: not given
  bool moves = false;     ///< pages to the nodes of the threads that use them
  bool children = false;
  std::optional<bool> hpcTags;
  bool report = false;
  std::string jsonFile; ///< with %h, %r and %p in it; empty: none
  bool profile = false;
  bool advise = false;
  std::string profileFile; ///< with %h, %r and %p in it; empty: standard error
  bool verify = false;
  bool quiet = false; ///< --quiet
  bool printEnv = false;
  bool dryRun = false;
  std::vector<std::string> compareModes; ///< empty: nothing is compared
  unsigned rounds = 7;                   ///< of a comparison
  std::optional<uint32_t> seed;          ///< of their order; nothing: any
  std::optional<Metric> metric;          ///< nothing: times are compared
  std::string htmlFile;                  ///< of a profile; empty: none
  std::string dataFile; ///< JSON of a comparison or a profile; empty: none
  bool isProfiling() const { return profile || advise; }
  bool isComparing() const { return !compareModes.empty(); }
  std::vector<std::string> command; ///< the program and its arguments
};

/// Parses the command line; options end at the first word that is none.
/// Nothing when the program has said all it has to say (--help, --version, a
/// usage error); \p status is then the exit status.
std::optional<RunOptions> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_OPTIONS_H
