// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of points, and finding and comparing them: what all experiments need
// for their conclusions.

#include "mpgbench/Run/Experiment.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::parameter(const Parameters &parameters, StringRef name) {
  for (const auto &[key, value] : parameters)
    if (key == name)
      return value;
  return "";
}

std::vector<double> mpg::valuesOf(const PointResult &point) {
  std::vector<double> values;
  for (const WorkerResult &sample : point.samples)
    values.push_back(sample.value);
  return values;
}

Backing mpg::backingOf(const PointResult &point) {
  Backing all;
  for (const WorkerResult &sample : point.samples) {
    all.normalBytes += sample.backing.normalBytes;
    all.thpBytes += sample.backing.thpBytes;
    all.hugetlbBytes += sample.backing.hugetlbBytes;
  }
  return all;
}

std::string mpg::pointName(StringRef experiment, const Parameters &parameters) {
  std::string name = experiment.str();
  for (const auto &[key, value] : parameters)
    name += "/" + key + "=" + value;
  return name;
}

const PointResult *mpg::findPoint(const ExperimentResult &result,
                                  const Parameters &wanted) {
  for (const PointResult &point : result.points)
    if (all_of(wanted, [&](const auto &pair) {
          return parameter(point.parameters, pair.first) == pair.second;
        }))
      return &point;
  return nullptr;
}

/// Why \p point has nothing to compare; "" if it has.
static std::string whyMissing(const PointResult *point) {
  if (!point)
    return "it was not in the plan";
  if (!point->samples.empty())
    return "";
  return point->missing.empty() ? "there are no measurements" : point->missing;
}

/// The values of rounds in which both were measured.
static void takePairs(const PointResult &before, const PointResult &after,
                      std::vector<double> &valuesBefore,
                      std::vector<double> &valuesAfter) {
  for (size_t i = 0; i < after.samples.size(); ++i) {
    auto round = find(before.rounds, after.rounds[i]);
    if (round == before.rounds.end())
      continue;
    valuesBefore.push_back(
        before.samples[size_t(round - before.rounds.begin())].value);
    valuesAfter.push_back(after.samples[i].value);
  }
}

static Conclusion::Kind judge(const Ratio &ratio, double bar, bool isBusy) {
  if (isBusy || !ratio.interval)
    return Conclusion::Kind::undecided;
  if (ratio.interval->low >= bar)
    return Conclusion::Kind::yes;
  return ratio.interval->high < bar ? Conclusion::Kind::no
                                    : Conclusion::Kind::undecided;
}

Conclusion mpg::compareRounds(const ExperimentResult &result,
                              const PointResult *before,
                              const PointResult *after, StringRef what,
                              double bar) {
  Conclusion conclusion;
  for (const PointResult *point : {before, after}) {
    std::string why = whyMissing(point);
    if (why.empty())
      continue;
    conclusion.kind = Conclusion::Kind::notMeasured;
    conclusion.isPlanned = before && after;
    conclusion.text = (what + ": " + why).str();
    return conclusion;
  }
  std::vector<double> valuesBefore, valuesAfter;
  takePairs(*before, *after, valuesBefore, valuesAfter);
  // Better is larger from here on, whatever the unit.
  conclusion.ratio = result.higherIsBetter
                         ? pairedRatio(valuesBefore, valuesAfter)
                         : pairedRatio(valuesAfter, valuesBefore);
  bool isBusy = before->isBusy || after->isBusy;
  conclusion.kind = judge(conclusion.ratio, bar, isBusy);
  conclusion.text =
      (what + ": " + describeRatio(conclusion.ratio) +
       (isBusy ? "; the machine was busy, so this is no verdict" : ""))
          .str();
  return conclusion;
}
