// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions and lines of programs that were not compiled with --mpg-sim, from
// their symbol tables and debug information. What debug information of its own
// file a program has is read; separate files of it are not looked for.

#ifndef MPG_TOOLS_MPGSIM_SIMSOURCES_H
#define MPG_TOOLS_MPGSIM_SIMSOURCES_H

#include "SimRun/SimEmulated.h"
#include <map>
#include <memory>

namespace mpg {

class SimSources {
public:
  SimSources();
  ~SimSources();
  /// What lies at \p address of the file at \p path, as far as it is known.
  sim::SimSource find(const std::string &path, uint64_t address);

private:
  struct File;
  std::map<std::string, std::unique_ptr<File>> files;
};

} // namespace mpg

#endif // MPG_TOOLS_MPGSIM_SIMSOURCES_H
