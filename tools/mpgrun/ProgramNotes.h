// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What mpgrun has to say about a program before it runs it: why it cannot be
// run, and what keeps a preloaded library from working in it.

#ifndef MPG_TOOLS_MPGRUN_PROGRAMNOTES_H
#define MPG_TOOLS_MPGRUN_PROGRAMNOTES_H

#include "Options.h"
#include "Process/Program.h"

namespace mpg {

struct Obstacle {
  std::string text;     ///< empty: there is none
  bool isWhole = false; ///< nothing at all of it would be on large pages
};

/// What of large pages \p program cannot have.
Obstacle findObstacle(const RunOptions &options, const Program &program);

/// What ends a program with tags on a processor with memory tagging; "" if
/// nothing does.
std::string findTagConflict(const Program &program);

/// Why no pages will be moved by touch; "" if the kernel will.
std::string findMoveObstacle();

/// Whether \p program can be tried at all; if not it is said, and \p status is
/// the exit status for that.
bool canBeTried(const RunOptions &options, const Program &program, int &status);

/// Says why exec failed with \p code; the exit status for that.
int refuseProgram(const RunOptions &options, const Program &program, int code);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_PROGRAMNOTES_H
