// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What to do next with a program that has run once: a few lines, what brings
// most first, each with the command to type. Memory is the measure: how much
// would come onto large pages, or to its threads' nodes.

#ifndef MPG_PROFILE_PROFILEADVICE_H
#define MPG_PROFILE_PROFILEADVICE_H

#include "Profile/Profile.h"

namespace mpg {

struct AdviceLine {
  uint64_t bytes; ///< that it is about
  std::string text, command;
};

/// \p command: the program and its arguments, as they are typed. At most five.
std::vector<AdviceLine> adviseNext(const RunReport &report,
                                   const Profile &profile,
                                   const std::string &command);

void writeAdvice(llvm::raw_ostream &out, llvm::ArrayRef<AdviceLine> lines);

} // namespace mpg

#endif // MPG_PROFILE_PROFILEADVICE_H
