// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgsim --engine=qemu: which qemu runs the program, how, and what its addresses
// are in the source. The program may come from any compiler; what records it is
// MpgQemu.so, inside of qemu.

#ifndef MPG_TOOLS_MPGSIM_SIMQEMU_H
#define MPG_TOOLS_MPGSIM_SIMQEMU_H

#include "Options.h"
#include "SimRun/SimEmulated.h"
#include <map>
#include <memory>

namespace mpg {

struct SimQemu {
  std::string path, plugin;
  bool seesSve = false;
  bool hasThreads = false; ///< the program may begin some
  std::string libraries;   ///< a folder with a loader for it; may be empty
};

/// The qemu for \p options, and whether it can do so. \p program: what is run.
/// \returns "" or what is wrong; \p self: argv[0].
std::string findQemu(const SimOptions &options, const std::string &program,
                     const char *self, SimQemu &qemu);

/// What is run: qemu with the program at \p program. \p ring: its path.
std::vector<std::string> qemuCommand(const SimQemu &qemu,
                                     const SimOptions &options,
                                     const std::string &program,
                                     const std::string &ring);

/// Functions and lines of programs that were not compiled with --mpg-sim, from
/// their symbol tables and debug information. What debug information of its own
/// file a program has is read; separate files of it are not looked for.
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

#endif // MPG_TOOLS_MPGSIM_SIMQEMU_H
