// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one program so that its memory can be read in the moment when it ends,
// and leaves it alone otherwise: signals, stops and the exit status pass
// through in both directions. Only the first process is traced; its threads and
// children run at full speed and never stop.

#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <sys/types.h>
#include <vector>

namespace mpg {

struct SupervisedRun {
  int execError = 0;   ///< errno of exec if the program never started
  int waitStatus = 0;  ///< as waitpid gives it
  bool traced = false; ///< whether the program was traced to its end
  pid_t pid = -1;
  std::string error; ///< why there is no child, or it cannot be waited for
};

/// Callbacks that look at the program before its end; null: none.
struct RunLooks {
  /// Before its exec.
  llvm::function_ref<void(pid_t, bool isTraced)> atStart = nullptr;
  /// While it runs: 2 ms after its exec, then after pauses that double up to 10
  /// ms, so that rings of samples do not fill. Pauses are longer where looking
  /// takes more than a fiftieth of the time.
  llvm::function_ref<void(pid_t)> atTick = nullptr;
};

/// Starts \p path with \p arguments and the environment \p environment, passes
/// on every signal that this process is sent alone, and waits for the end.
/// \p atExit is called with the process id while the memory of the program
/// still exists; not if it could not be traced (\p trace is false, a debugger
/// is there, the system forbids it) or was killed.
/// pre: one thread.
SupervisedRun runSupervised(const std::string &path,
                            const std::vector<std::string> &arguments,
                            const std::vector<std::string> &environment,
                            bool trace, llvm::function_ref<void(pid_t)> atExit,
                            RunLooks looks = {});

/// Lets the traced process \p pid go on from the stop that \p status tells of:
/// for a signal, of its group, or at its end. \returns false if the system
/// forbids it (errno): the process would stand still for ever.
bool resumeTraced(pid_t pid, int status);

/// Ends this process as the child did: by the same signal or status.
[[noreturn]] void endLike(int waitStatus);

/// The fields after the name in \p stat, the text of /proc/PID/stat or of a
/// thread's; they point into it.
llvm::SmallVector<llvm::StringRef, 52> statFields(llvm::StringRef stat);

/// Says that programs that \p pid has started did most of the work, or that its
/// children go on; "" if neither. pre: \p pid stands still in its last moment.
std::string describeOtherProcesses(pid_t pid);

} // namespace mpg
