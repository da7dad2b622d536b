// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This process among the ranks of an MPI job, from the launcher's environment
// variables (mpg/ranks.def), and per-rank files.

#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mpg {

/// Whether this rank prints for all ranks on its node: the first one does.
bool speaksForNode();

/// The rank in the job; "0" without MPI, or if it is not a number.
std::string worldRank();

/// Whether a launcher has started this process as one of several.
bool hasOtherRanks();

/// The name of this node, at most 255 bytes of it.
std::string hostName();

/// This process among the nodes and ranks of the job, for its reports.
struct RankPlace {
  std::string host;              ///< the node; empty: not known
  std::string rank;              ///< a number, "0" without MPI
  std::optional<uint32_t> ranks; ///< of the job
};
RankPlace getRankPlace();

/// \p pattern with %h, %j, %r, %p and %% replaced by host, job, rank, \p pid
/// and a percent sign.
std::string expandFileName(llvm::StringRef pattern, pid_t pid);

} // namespace mpg
