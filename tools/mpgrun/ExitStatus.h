// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exit statuses of mpgrun that are not the program's own: those of env,
// nohup and timeout, and one for --verify and --compare.

#ifndef MPG_TOOLS_MPGRUN_EXITSTATUS_H
#define MPG_TOOLS_MPGRUN_EXITSTATUS_H

namespace mpg {

constexpr int exitNotVerified = 124;     ///< the program itself ended with 0
constexpr int exitNothingCompared = 124; ///< no two modes could be compared
constexpr int exitOwnError = 125; ///< usage, or mpgrun could not do its job
constexpr int exitNotExecutable = 126; ///< the program is there
constexpr int exitNotFound = 127;

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_EXITSTATUS_H
