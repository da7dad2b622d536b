// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that only start another one. mpgrun in front of them is an easy
// mistake: the large pages would be theirs, and the program that is meant would
// run as if mpgrun were not there. Known by their names; that is enough for a
// hint.

#ifndef MPG_TOOLS_MPGRUN_WRAPPERS_H
#define MPG_TOOLS_MPGRUN_WRAPPERS_H

#include <string>
#include <vector>

namespace mpg {

/// The name of the program that \p command runs, if that is one which starts
/// another program; else empty.
std::string startsAnother(const std::vector<std::string> &command);

/// Whether \p command is valgrind with helgrind, which replaces malloc and the
/// functions for threads in a way that libmpg does not go with.
bool asksForHelgrind(const std::vector<std::string> &command);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_WRAPPERS_H
