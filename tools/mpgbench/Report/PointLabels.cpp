// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PointLabels.h.

#include "mpgbench/Report/PointLabels.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

std::vector<std::string> mpg::parameterNames(const ExperimentResult &result) {
  std::vector<std::string> names;
  for (const PointResult &point : result.points)
    for (const auto &pair : point.parameters)
      if (!is_contained(names, pair.first))
        names.push_back(pair.first);
  return names;
}

StringRef mpg::kindWord(Conclusion::Kind kind) {
  switch (kind) {
  case Conclusion::Kind::yes:
    return "yes";
  case Conclusion::Kind::no:
    return "no";
  case Conclusion::Kind::undecided:
    return "undecided";
  case Conclusion::Kind::notMeasured:
    break;
  }
  return "not measured";
}

static bool isShared(ArrayRef<const PointResult *> points, StringRef name) {
  return all_of(points, [&](const PointResult *point) {
    return parameter(point->parameters, name) ==
           parameter(points.front()->parameters, name);
  });
}

static std::vector<const PointResult *>
pointsOf(const ExperimentResult &result) {
  std::vector<const PointResult *> points;
  for (const PointResult &point : result.points)
    points.push_back(&point);
  return points;
}

Parameters mpg::sharedParameters(const ExperimentResult &result) {
  Parameters shared;
  std::vector<const PointResult *> all = pointsOf(result);
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
  std::vector<const PointResult *> all = pointsOf(result);
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
