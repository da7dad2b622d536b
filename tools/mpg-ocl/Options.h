// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of mpg-ocl as plain data.

#ifndef MPG_TOOLS_MPG_OCL_OPTIONS_H
#define MPG_TOOLS_MPG_OCL_OPTIONS_H

#include "Ocl/FortranLines.h"

namespace mpg {

struct OclOptions {
  std::string output = "-"; ///< "-": standard output
  struct Source {
    std::string path;
    FortranOptions fortran;
  };
  std::vector<Source> sources;
  bool saysHonoured = false; ///< -Rpass=mpg
  bool saysNoEffect = false; ///< -Rpass-missed=mpg
  /// These are the arguments of flang, which reports what is wrong with them.
  bool forFlang = false;
};

/// Parses the command line. Nothing when the program has said all it has to
/// say (--help, --version, a usage error); \p status is then the exit status.
std::optional<OclOptions> parseOptions(int argc, char **argv, int &status);

} // namespace mpg

#endif // MPG_TOOLS_MPG_OCL_OPTIONS_H
