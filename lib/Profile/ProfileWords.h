// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the profile's table and its page say in the same words.

#ifndef MPG_PROFILE_PROFILEWORDS_H
#define MPG_PROFILE_PROFILEWORDS_H

#include "Profile/Profile.h"

namespace mpg {

/// "99 %"; never 100 while a byte is missing.
std::string percentText(uint64_t part, uint64_t all);
/// "99 %"; "?" of nothing.
std::string percentText(std::optional<double> percent);

/// "2 MiB of the pool", "2 MiB, transparent", "4 KiB".
std::string describePage(const PageUse &pages, bool isFreed);

/// "node 0: 50 %, node 1: 50 %".
std::string describeNodes(const PageUse &pages);

/// "main", "thread 4711", "48 threads, main 60 %": who touched it first. pre:
/// there are faults.
std::string describeThreads(const FaultCount &count, uint32_t firstThread);

/// What of \p count matters for large pages: "cold: deserves no large pages",
/// "sparse: large pages would hold 300 MiB beside it", "dense"; "of its whole
/// mapping" where no more is known, empty where nothing is.
std::string describeAccesses(const AccessCount &count);

/// "accessed within 1.0 s, mean of 5 times", or why that is not known. pre: it
/// was asked for.
std::string describeWorkingSet(const Profile &profile);

/// Hardly any of its frames is accessed.
bool isCold(const AccessCount &count);
/// Most of a frame that is accessed is not, and that is much.
bool isSparse(const AccessCount &count);

/// "status 0", "ended by signal 9".
std::string describeEnding(int waitStatus);

/// Whether anything lies on another node than the first.
bool liesOnSeveralNodes(const Profile &profile);

} // namespace mpg

#endif // MPG_PROFILE_PROFILEWORDS_H
