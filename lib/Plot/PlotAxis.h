// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes of plots: which part of the numbers is shown, where a value lies on it,
// and the round numbers that are written beside it.

#ifndef MPG_PLOT_PLOTAXIS_H
#define MPG_PLOT_PLOTAXIS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace mpg {

/// \p value for people, with about four digits: "46.27", "1033", "1.5e-05"; "-"
/// if it is no number.
std::string formatMeasured(double value);

/// Whether \p value can be drawn: a number above 0, and not so large or small
/// that arithmetic on it leaves what a double can hold.
bool isDrawable(double value);

struct AxisTick {
  double value;
  std::string label;
};

/// The axis that values are read from.
class ValueAxis {
public:
  /// From 0 to \p max or a little more. pre: isDrawable(max).
  static ValueAxis linear(double max);
  /// pre: isDrawable(min), isDrawable(max), min <= max.
  static ValueAxis logarithmic(double min, double max);

  /// Where \p value lies, 0 being the lower end and 1 the upper one; what lies
  /// outside is at the end that is nearer.
  double fraction(double value) const;
  const std::vector<AxisTick> &ticks() const { return marks; }
  bool isLogarithmic() const { return isLog; }

private:
  ValueAxis(double low, double high, bool isLog)
      : low(low), high(high), isLog(isLog) {}

  double low, high; ///< logarithms if isLog
  bool isLog;
  std::vector<AxisTick> marks;
};

/// Columns that \p text takes in a label, wide letters being two; never less
/// than it really takes.
size_t labelColumns(llvm::StringRef text);
/// \p text without control characters and what is not UTF-8; \p columns at
/// most, the middle being left out if it is longer. pre: columns >= 2.
std::string shortLabel(llvm::StringRef text, size_t columns);

} // namespace mpg

#endif // MPG_PLOT_PLOTAXIS_H
