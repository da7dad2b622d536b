// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BenchPoints.h.

#include "mpgbench/Run/BenchPoints.h"
#include "Support/Format.h"
#include "mpgbench/Run/Experiment.h"
#include "llvm/ADT/STLExtras.h"
#include <unistd.h>

using namespace llvm;
using namespace mpg;

StringRef mpg::parameter(const Parameters &parameters, StringRef name) {
  for (const auto &[key, value] : parameters)
    if (key == name)
      return value;
  return "";
}

std::vector<double> mpg::getValues(const PointResult &point) {
  std::vector<double> values;
  for (const WorkerResult &sample : point.samples)
    values.push_back(sample.value);
  return values;
}

static std::optional<double> sampleFigure(const WorkerResult &sample,
                                          const std::string &name) {
  auto figure = sample.figures.find(name);
  if (figure != sample.figures.end())
    return figure->second;
  for (const CounterValue &counter : sample.counters)
    if (counter.name == name && counter.value)
      return double(*counter.value);
  return std::nullopt;
}

std::optional<double> mpg::findFigure(const PointResult &point,
                                      const std::string &name) {
  std::vector<double> values;
  for (const WorkerResult &sample : point.samples)
    if (std::optional<double> value = sampleFigure(sample, name))
      values.push_back(*value);
  if (values.empty())
    return std::nullopt;
  return summarise(values).median;
}

Backing mpg::getBacking(const PointResult &point) {
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
static void addPairs(const PointResult &before, const PointResult &after,
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
  addPairs(*before, *after, valuesBefore, valuesAfter);
  // Better is larger from here on, whatever the unit.
  conclusion.ratio = result.higherIsBetter
                         ? pairedRatio(valuesBefore, valuesAfter)
                         : pairedRatio(valuesAfter, valuesBefore);
  bool isBusy = before->isBusy || after->isBusy;
  conclusion.kind = judge(conclusion.ratio, bar, isBusy);
  conclusion.text =
      (what + ": " + describeRatio(conclusion.ratio) +
       (isBusy ? "; the machine was busy, so this is not a verdict" : ""))
          .str();
  return conclusion;
}

// Plans

std::vector<unsigned> mpg::threadCounts(const PlanContext &context) {
  std::vector<unsigned> counts = {1};
  if (context.cpus > 1)
    counts.push_back(context.cpus);
  return counts;
}

uint64_t mpg::sizeThatFits(const PlanContext &context, uint64_t wantedBytes) {
  uint64_t bytes = wantedBytes;
  while (bytes > context.memoryBytes && bytes > largePageBytes)
    bytes /= 2;
  uint64_t min = std::max(wantedBytes / 16, largePageBytes);
  for (uint64_t smaller = bytes; smaller >= min; smaller /= 2)
    if (poolShortage(context.node.pages, largePageBytes, smaller).empty())
      return smaller;
  return bytes;
}

std::vector<PageKind> mpg::baseAndLarge(const PlanContext &context,
                                        uint64_t bytes) {
  std::vector<PageKind> all = pageKinds(context.node), chosen = {all.front()};
  const PageKind *large = nullptr;
  for (const PageKind &kind : all) {
    bool isWanted = kind.name == "2M" || kind.isTransparent;
    // 2M comes last, and wins if it can be had, or if there is nothing else.
    if (isWanted && (!large || whyNotNow(context.node, kind, bytes).empty()))
      large = &kind;
  }
  if (large)
    chosen.push_back(*large);
  return chosen;
}

unsigned mpg::cacheLineBytes(const Node &node) {
  return node.machine.a64fx == A64fxKind::no ? 64 : 256;
}

std::vector<std::string> mpg::getValues(const ExperimentResult &result,
                                        StringRef name) {
  std::vector<std::string> values;
  for (const PointResult &point : result.points) {
    StringRef value = parameter(point.parameters, name);
    if (!value.empty() && !is_contained(values, value))
      values.push_back(value.str());
  }
  return values;
}

std::string mpg::countThreads(const std::string &threads) {
  return threads + (threads == "1" ? " thread" : " threads");
}

std::string mpg::basePageName() {
  return sizeName(uint64_t(sysconf(_SC_PAGESIZE)));
}

void mpg::comparePages(ExperimentResult &result, const Parameters &others,
                       const std::string &what, double bar) {
  auto find = [&](StringRef pages) {
    Parameters wanted = others;
    wanted.emplace_back("pages", pages.str());
    return findPoint(result, wanted);
  };
  std::string base = basePageName();
  for (const char *large : {"2M", "THP", "1G"}) {
    const PointResult *point = find(large);
    bool isMeasured = point && !point->samples.empty();
    if (isMeasured || StringRef(large) == "2M")
      result.conclusions.push_back(
          compareRounds(result, find(base), point,
                        what + ": " + large + " pages against " + base, bar));
  }
}

// Workers

static uint64_t checkNumber(std::optional<uint64_t> number, StringRef name,
                            StringRef text, uint64_t max, std::string &error) {
  if (number && *number > 0 && *number <= max)
    return *number;
  if (error.empty())
    error = (name + "=" + printable(text) + ": not a number from 1 to " +
             std::to_string(max))
                .str();
  return 0;
}

uint64_t mpg::readSize(const Parameters &parameters, StringRef name,
                       uint64_t max, std::string &error) {
  StringRef text = parameter(parameters, name);
  return checkNumber(parseBytes(text), name, text, max, error);
}

uint64_t mpg::readCount(const Parameters &parameters, StringRef name,
                        uint64_t max, std::string &error) {
  StringRef text = parameter(parameters, name);
  return checkNumber(parseNumber(text), name, text, max, error);
}

Part mpg::getPart(uint64_t count, uint64_t step, unsigned thread,
                  unsigned threads) {
  uint64_t steps = (count + step - 1) / step;
  // The first ones get one step more if they are not to be shared equally.
  auto border = [&](uint64_t of) {
    uint64_t at = steps / threads * of + std::min(of, steps % threads);
    return std::min(at * step, count);
  };
  return {border(thread), border(thread + uint64_t(1))};
}
