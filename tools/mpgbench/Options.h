// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpgbench as plain data.

#ifndef MPG_TOOLS_MPGBENCH_OPTIONS_H
#define MPG_TOOLS_MPGBENCH_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

struct BenchOptions {
  enum class Command : uint8_t { list, run, compare };
  Command command = Command::run;
  /// run, list: of experiments or points, empty: all; compare: two files.
  std::vector<std::string> names;
  bool quick = false;
  unsigned repetitions = 7;
  uint64_t seed = 1;
  std::string jsonFile, csvFile, htmlFile; ///< empty: none
};

/// Nothing when the program has said all it has to say (--help, --version, a
/// usage error); \p status is then the exit status.
std::optional<BenchOptions> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPGBENCH_OPTIONS_H
