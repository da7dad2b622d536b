// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the facts about a node come to: does a program that starts here now get
// pages of 2 MiB, how many, and which command improves it. Pure functions of
// the facts.

#ifndef MPG_NODE_VERDICT_H
#define MPG_NODE_VERDICT_H

#include "Node/Node.h"

namespace mpg {

enum class VerdictStatus : uint8_t {
  pool,        ///< the pool gives pages, as many as are needed
  tooFew,      ///< it gives some, but fewer
  transparent, ///< only transparent huge pages, which are no promise
  none,
  unknown, ///< the files that would tell could not be read
};
/// As in JSON: "pool", "too-few", ...
llvm::StringRef statusName(VerdictStatus status);

/// Something to know or to do.
struct NodeAdvice {
  bool isWarning = false;       ///< costs large pages or speed; else a note
  std::string what, cost;       ///< cost may be empty
  std::vector<std::string> fix; ///< lines for a root shell; may be empty
};

struct Verdict {
  VerdictStatus status = VerdictStatus::unknown;
  /// 2 MiB pages that a new program could have now.
  Fact<uint64_t> availablePages;
  uint64_t neededPages = 0; ///< 0: nothing was asked for
  std::string headline;
  std::vector<NodeAdvice> advice; ///< what decides the verdict first

  /// Pages of the pool if there is a need, else large pages of any kind.
  bool isGood() const {
    return status == VerdictStatus::pool ||
           (status == VerdictStatus::transparent && neededPages == 0);
  }
};

Verdict judgeNode(const Node &node, uint64_t neededPages);

/// Two lines for a root shell that enlarge the pool by \p morePages: now, and
/// at every boot. On the nodes for jobs if the machine has others as well.
std::vector<std::string> growCommands(const Node &node, uint64_t morePages);

} // namespace mpg

#endif // MPG_NODE_VERDICT_H
