// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a link gets the layout: guessed from the inputs before it, judged by
// the output after it. Pure functions.
//
// The layout is wanted only where .data and .bss are large, and how large they
// are is known only after the link. When the guess was wrong a second link
// follows, if that is quick: in practice a small program that is linked from
// large archives. One that would not be quick (a large output, LTO) is not
// worth the 2 MiB that it would save: the layout then stays although the data
// is small. So it does where inputs can be read only once.

#ifndef MPG_LINK_LINKPLAN_H
#define MPG_LINK_LINKPLAN_H

#include "Link/InputScan.h"

namespace mpg {

/// How one run of lld is to lay out its output.
struct LinkPlan {
  bool align = false; ///< false: the layout is skipped
  bool large = false; ///< .ldata and .lbss as well
  std::vector<std::string> lateSections;
  bool operator==(const LinkPlan &other) const;
  bool operator!=(const LinkPlan &other) const { return !(*this == other); }
};

/// What a finished output holds.
struct OutputFacts {
  bool readable = false;
  bool sized = false; ///< dataBytes is known: there are section headers
  uint64_t fileBytes = 0;
  uint64_t dataBytes = 0;
  bool large = false;
  std::vector<std::string> lateSections; ///< after the end of the layout
  std::vector<std::string> broken;       ///< promises of the layout
};

/// The plan that the inputs ask for, as far as they are scanned.
LinkPlan planOfInputs(const LinkRequest &request, const ScanResult &scan);

/// The plan that \p output asks for, which was linked by \p plan; the same one
/// if there is no reason for a second link.
LinkPlan planOfOutput(const LinkRequest &request, const ScanResult &scan,
                      const LinkPlan &plan, const OutputFacts &output);

} // namespace mpg

#endif // MPG_LINK_LINKPLAN_H
