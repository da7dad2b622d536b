// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of nodes as Slurm and ClusterShell write many of them: node[1-9998].
// Only the last number of a name is folded.

#ifndef MPG_TOOLS_MPGINFO_FOLD_NODESET_H
#define MPG_TOOLS_MPGINFO_FOLD_NODESET_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// "login,node[1-3,007]"; names that such a set cannot hold are in quotes. Each
/// name once. After \p maxParts of "node[1-3]", 0 for all, "and 17 more".
std::string foldNames(std::vector<std::string> names, size_t maxParts = 0);

/// The names in "login,node[1-3]", those in front first. Nothing if it is not a
/// set, or one of more than a million.
std::optional<std::vector<std::string>> expandNames(llvm::StringRef set);

} // namespace mpg

#endif // MPG_TOOLS_MPGINFO_FOLD_NODESET_H
