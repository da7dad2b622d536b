// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpginfo as plain data.

#ifndef MPG_TOOLS_MPGINFO_OPTIONS_H
#define MPG_TOOLS_MPGINFO_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

struct InfoOptions {
  bool json = false;
  uint64_t neededPages = 0; ///< of 2 MiB; 0: not asked
  std::string root = "/";
};

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, a usage error); \p status is then the exit status.
std::optional<InfoOptions> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPGINFO_OPTIONS_H
