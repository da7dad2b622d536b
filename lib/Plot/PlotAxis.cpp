// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlotPanel.h: axes. Round numbers are 1, 2 and 5 times powers of ten:
// people read between them without counting.

#include "Plot/PlotPanel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

/// "1.5e+06" as "1.5e6": labels are narrow.
static std::string printExponent(double value) {
  std::string text = formatv("{0}", format("%.3g", value));
  size_t exponent = text.find("e+");
  if (exponent != std::string::npos) {
    text.erase(exponent + 1, 1);
    if (text[exponent + 1] == '0')
      text.erase(exponent + 1, 1);
  }
  return text;
}

bool mpg::isDrawable(double value) { return value >= 1e-290 && value <= 1e290; }

/// The label of a round number; \p step: to the next one.
static std::string tickLabel(double value, double step) {
  if (value == 0)
    return "0";
  if (std::fabs(value) >= 1e6 || step < 1e-4)
    return printExponent(value);
  int decimals = std::max(0, int(-std::floor(std::log10(step) + 1e-9)));
  return formatv("{0}", format("%.*f", decimals, value));
}

/// The smallest round number that is not below \p value.
static double roundUp(double value) {
  double power = std::pow(10.0, std::floor(std::log10(value)));
  for (double digit : {1.0, 2.0, 5.0})
    if (digit * power >= value * (1 - 1e-9))
      return digit * power;
  return 10 * power;
}

static double roundDown(double value) {
  double power = std::pow(10.0, std::floor(std::log10(value)));
  for (double digit : {5.0, 2.0})
    if (digit * power <= value * (1 + 1e-9))
      return digit * power;
  return power;
}

ValueAxis ValueAxis::linear(double max) {
  double step = roundUp(max / 6);
  // The largest value keeps off the upper end.
  int steps = int(std::ceil(max * 1.03 / step));
  ValueAxis axis(0, steps * step, false);
  for (int i = 0; i <= steps; ++i)
    axis.marks.push_back({i * step, tickLabel(i * step, step)});
  return axis;
}

/// With 1, 2 and 5 of each decade if there are few, else with powers of ten,
/// at most eight of them.
ValueAxis ValueAxis::logarithmic(double min, double max) {
  double low = roundDown(min / 1.04), high = roundUp(max * 1.04);
  bool hasFew = std::log10(high / low) < 3.1;
  if (!hasFew) {
    low = std::pow(10.0, std::floor(std::log10(low) + 1e-9));
    high = std::pow(10.0, std::ceil(std::log10(high) - 1e-9));
  }
  ValueAxis axis(std::log10(low), std::log10(high), true);
  int first = int(std::floor(axis.low + 1e-9)),
      last = int(std::floor(axis.high + 1e-9)), every = (last - first + 7) / 7;
  for (int decade = first; decade <= last; decade += hasFew ? 1 : every)
    for (int digit : {1, 2, 5}) {
      double value = digit * std::pow(10.0, decade);
      bool isInside = value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
      if (isInside && (digit == 1 || hasFew))
        axis.marks.push_back({value, tickLabel(value, value)});
    }
  return axis;
}

double ValueAxis::fraction(double value) const {
  if (!isDrawable(value))
    return 0;
  double at = isLog ? std::log10(value) : value;
  return std::clamp((at - low) / (high - low), 0.0, 1.0);
}
