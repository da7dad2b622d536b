// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How numbers, points and their pages are written in tables. See BenchReport.h.

#include "Support/Format.h"
#include "mpgbench/Report/BenchReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace mpg;

std::string mpg::formatFigureLike(double value, double like) {
  constexpr int digits = 4, maxDecimals = 6;
  int exponent = like != 0 && std::isfinite(like)
                     ? int(std::floor(std::log10(std::abs(like))))
                     : 0;
  int decimals = std::max(0, digits - 1 - exponent);
  if (decimals > maxDecimals || exponent > 12)
    return formatv("{0}", format("%.3e", value));
  return formatv("{0}", format("%.*f", decimals, value));
}

std::string mpg::formatFigure(double value) {
  return formatFigureLike(value, value);
}

std::string mpg::describeBacking(const PointResult &point) {
  Backing backing = getBacking(point);
  double normal = double(backing.normalBytes), thp = double(backing.thpBytes),
         hugetlb = double(backing.hugetlbBytes);
  double all = normal + thp + hugetlb;
  // By the size that was asked for, which hugetlb gives or refuses.
  StringRef pages = parameter(point.parameters, "pages");
  bool isSize = parseBytes(pages).value_or(0) >= uint64_t(1) << 20;
  std::string text;
  for (auto [bytes, label] : {std::pair(hugetlb, isSize ? pages : "hugetlb"),
                              std::pair(thp, StringRef("THP")),
                              std::pair(normal, StringRef("normal"))}) {
    if (bytes <= 0)
      continue;
    // Never 0 % for a part that exists, or 100 % for less than all.
    unsigned percent = std::clamp(unsigned(100 * bytes / all + 0.5), 1u, 99u);
    text += formatv("{0}{1} {2} %", text.empty() ? "" : ", ", label,
                    bytes == all ? 100 : percent);
  }
  return text;
}

std::vector<UnmeasuredPoints>
mpg::collectUnmeasured(const ExperimentResult &result) {
  std::vector<UnmeasuredPoints> groups;
  for (const PointResult &point : result.points) {
    if (!point.samples.empty())
      continue;
    auto group = find_if(groups, [&](const UnmeasuredPoints &one) {
      return one.reason == point.missing;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {point.missing, {}});
    group->points.push_back(&point);
  }
  return groups;
}

PointCounts mpg::countPoints(const BenchRun &run) {
  PointCounts counts;
  for (const ExperimentResult &experiment : run.experiments)
    for (const PointResult &point : experiment.points) {
      ++counts.all;
      counts.measured += !point.samples.empty();
      counts.busy += point.isBusy;
      counts.rounds = std::max(counts.rounds, point.samples.size());
    }
  return counts;
}

// Names of points

std::string mpg::describeOthers(const Parameters &parameters,
                                ArrayRef<StringRef> without) {
  std::string text;
  for (const auto &[name, value] : parameters)
    if (!is_contained(without, name))
      text += (text.empty() ? "" : ", ") + name + " " + value;
  return text;
}

std::vector<std::string> mpg::parameterNames(const ExperimentResult &result) {
  std::vector<std::string> names;
  for (const PointResult &point : result.points)
    for (const auto &pair : point.parameters)
      if (!is_contained(names, pair.first))
        names.push_back(pair.first);
  return names;
}

StringRef mpg::kindWord(Conclusion::Kind kind) {
  static constexpr StringLiteral names[] = {"yes", "no", "undecided",
                                            "not measured"};
  return names[unsigned(kind)];
}

static bool isShared(ArrayRef<const PointResult *> points, StringRef name) {
  return all_of(points, [&](const PointResult *point) {
    return parameter(point->parameters, name) ==
           parameter(points.front()->parameters, name);
  });
}

Parameters mpg::sharedParameters(const ExperimentResult &result) {
  Parameters shared;
  auto all = to_vector(make_pointer_range(result.points));
  if (all.size() < 2)
    return shared;
  for (const std::string &name : parameterNames(result))
    if (isShared(all, name))
      shared.push_back({name, parameter(all.front()->parameters, name).str()});
  return shared;
}

/// What \p points have in common and not all points have.
static std::string commonText(const ExperimentResult &result,
                              ArrayRef<const PointResult *> points) {
  std::string text;
  auto all = to_vector(make_pointer_range(result.points));
  for (const std::string &name : parameterNames(result)) {
    StringRef value = parameter(points.front()->parameters, name);
    if (!value.empty() && isShared(points, name) && !isShared(all, name))
      text += (text.empty() ? "" : " ") + name + "=" + value.str();
  }
  return text;
}

std::string mpg::pointLabel(const ExperimentResult &result,
                            const PointResult &point) {
  std::string text = commonText(result, {&point});
  return text.empty() ? point.name : text;
}

std::string mpg::pointsLabel(const ExperimentResult &result,
                             ArrayRef<const PointResult *> points) {
  if (points.size() == 1)
    return pointLabel(result, *points.front());
  if (points.size() == result.points.size())
    return "all points";
  std::string text = commonText(result, points);
  return text + (text.empty() ? "" : ", ") + std::to_string(points.size()) +
         " points";
}
