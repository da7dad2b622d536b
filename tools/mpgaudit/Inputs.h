// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From operands to the list of files to audit: plain names, @lists, a
// NUL-separated list, directories.

#ifndef MPG_TOOLS_MPGAUDIT_INPUTS_H
#define MPG_TOOLS_MPGAUDIT_INPUTS_H

#include "JobScript/JobScript.h"
#include "Options.h"
#include <functional>

namespace mpg {

struct JobLaunch;

struct Input {
  std::string path;
  /// Found under a directory: what is no ELF file is passed over in silence.
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

/// Without files of the user's the programs that \p script starts and that are
/// here become inputs; files of the user's get the start that fits them best.
/// \p given: what --env and --sysroot say; it wins over the script. May be
/// null.
void addJobInputs(JobScript &script, const Launch *given,
                  std::vector<Input> &inputs);

/// Says of programs in images that are no folders here that they were not
/// looked at them.
void noteImages(JobScript &script);

} // namespace mpg

#endif // MPG_TOOLS_MPGAUDIT_INPUTS_H
