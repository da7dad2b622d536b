// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareMetric.h. The expressions are POSIX's extended ones, as grep -E
// has them. There "\d" is the letter d: such a one would match nothing, or
// something else, so it is refused and not taken for what it is elsewhere.

#include "mpgrun/Compare/CompareMetric.h"
#include "Support/Format.h"
#include "mpgrun/Compare/CompareOutput.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

/// What has no meaning in an extended expression, and what to write instead.
static std::string findForeignEscape(StringRef regex) {
  for (size_t at = 0; at + 1 < regex.size(); ++at) {
    if (regex[at] != '\\')
      continue;
    char letter = regex[++at];
    if (isAlpha(letter))
      return std::string("\\") + letter +
             " is the letter alone in a regular expression of grep -E; write "
             "[0-9] for \\d, [[:space:]] for \\s, [[:alnum:]_] for \\w";
  }
  return "";
}

std::optional<Metric> mpg::parseMetric(StringRef text, std::string &error) {
  Metric metric;
  metric.isMoreBetter = text.consume_front("more:");
  if (!metric.isMoreBetter)
    text.consume_front("less:");
  metric.regex = text.str();
  Regex regex(text);
  error = findForeignEscape(text);
  std::string reason;
  if (error.empty() && text.empty())
    error = "there is no regular expression";
  else if (error.empty() && !regex.isValid(reason))
    error = "the regular expression is not understood: " + reason;
  else if (error.empty() && regex.getNumMatches() != 1)
    error =
        (regex.getNumMatches() == 0
             ? "it has no group"
             : "it has " + std::to_string(regex.getNumMatches()) + " groups") +
        "; put ( ) around the number and nowhere else, such as "
        "'time: ([0-9.]+)'";
  if (!error.empty())
    return std::nullopt;
  return metric;
}

/// Fortran writes 0.125D+02, too.
static std::optional<double> readDecimal(StringRef text) {
  std::string plain = text.trim().str();
  std::replace(plain.begin(), plain.end(), 'D', 'e');
  std::replace(plain.begin(), plain.end(), 'd', 'e');
  double value;
  // What strtod takes beside decimal numbers is no measurement.
  if (plain.find_first_not_of("0123456789.eE+-") != std::string::npos ||
      StringRef(plain).getAsDouble(value) || !std::isfinite(value))
    return std::nullopt;
  return value;
}

MetricReading mpg::readMetric(const Metric &metric, int output, int messages) {
  Regex regex(metric.regex);
  std::optional<std::string> found;
  auto look = [&](StringRef line) {
    SmallVector<StringRef, 2> matches;
    if (regex.match(line, &matches))
      found = matches[1].str();
  };
  forEachLine(output, /*withoutLibmpg=*/false, look);
  if (!found)
    forEachLine(messages, /*withoutLibmpg=*/true, look);
  MetricReading reading;
  if (!found) {
    reading.problem = "no line of its output matches --metric";
    return reading;
  }
  reading.text = StringRef(*found).trim().str();
  std::optional<double> value = readDecimal(reading.text);
  if (!value)
    reading.problem = "'" + reading.text +
                      "', which --metric found in its "
                      "output, is no number";
  else if (*value <= 0)
    reading.problem = "the number that --metric found in its output is " +
                      reading.text + "; only numbers above 0 have a ratio";
  else
    reading.value = *value;
  return reading;
}
