// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number that a program prints about itself (its solver's time, its rate),
// found by a regular expression: mpgrun --compare --metric compares that in
// place of the time from exec to the end. What cannot be read for certain is
// an error, never a guess.

#ifndef MPG_TOOLS_MPGRUN_COMPARE_COMPAREMETRIC_H
#define MPG_TOOLS_MPGRUN_COMPARE_COMPAREMETRIC_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mpg {

struct Metric {
  std::string regex; ///< with one group, which holds the number
  bool isMoreBetter = false;

  /// "less is better"
  llvm::StringRef direction() const {
    return isMoreBetter ? "more is better" : "less is better";
  }
};

/// "REGEX" or "less:REGEX", where less is better, or "more:REGEX". Nothing if
/// it cannot be used; \p error then says why.
std::optional<Metric> parseMetric(llvm::StringRef text, std::string &error);

struct MetricReading {
  double value = 0;
  std::string text;    ///< as the program printed it
  std::string problem; ///< why there is no value; empty: there is one
};

/// The number in the last line that matches, of what the program wrote to the
/// file \p output or, if no line there does, to \p messages; libmpg's own lines
/// are no one's. In a line it is the first match.
MetricReading readMetric(const Metric &metric, int output, int messages);

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_COMPARE_COMPAREMETRIC_H
