// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modes that mpgrun --compare knows.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREMODES_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREMODES_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

/// What is compared if no list is given.
constexpr llvm::StringLiteral defaultCompareModes = "none,thp,hugetlb";

/// "none,thp,hugetlb" as a list. \p error names what is wrong with it: an
/// unknown, repeated or empty mode, or less than two; empty if nothing is.
std::vector<std::string> parseCompareModes(llvm::StringRef text,
                                           std::string &error);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREMODES_H
