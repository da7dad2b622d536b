// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the user has named for a report, and messages about them.

#ifndef MPG_TOOLS_MPGSIM_SIMOUTPUT_H
#define MPG_TOOLS_MPGSIM_SIMOUTPUT_H

#include "SimReport.h"
#include <memory>

namespace mpg {

/// Standard error, with the begin of a line of an error on it.
llvm::raw_ostream &simError();
/// Null after an error, which it says.
std::unique_ptr<llvm::raw_fd_ostream> openSimFile(const std::string &path);

class SimOutput {
public:
  explicit SimOutput(const SimOptions &options) : options(options) {}
  /// Before the program runs: it would be in vain. Both say what is wrong.
  bool open();
  bool write(const SimReport &report);
  /// Null: none is wanted.
  llvm::raw_fd_ostream *record() { return recordFile.get(); }

private:
  const SimOptions &options;
  std::unique_ptr<llvm::raw_fd_ostream> html, output, recordFile;
};

} // namespace mpg

#endif // MPG_TOOLS_MPGSIM_SIMOUTPUT_H
