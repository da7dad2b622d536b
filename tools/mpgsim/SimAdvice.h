// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arrays to put into sector 1, and the side file that says so.

#ifndef MPG_TOOLS_MPGSIM_SIMADVICE_H
#define MPG_TOOLS_MPGSIM_SIMADVICE_H

#include "SimReport.h"

namespace mpg {

struct StreamChoice {
  std::vector<SimPart> arrays; ///< empty: see reason
  std::string reason;

  /// For --stream.
  std::vector<std::string> names() const;
  /// Whether a side file can name one of them.
  bool hasHint() const;
};

/// From a run without sectors.
StreamChoice chooseStream(const SimReport &report);

/// pre: \p report is of a run with \p choice, and has a best quota.
void writeAdvice(llvm::raw_ostream &out, const SimReport &report,
                 const StreamChoice &choice);

} // namespace mpg

#endif // MPG_TOOLS_MPGSIM_SIMADVICE_H
