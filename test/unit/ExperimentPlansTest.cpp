// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The experiments on memory: the points they plan for made-up nodes, that a
// worker measures small ones and rejects nonsense, and their conclusions from
// made-up samples. No test measures time.

#include "Measure/MachineLoad.h"
#include "Support/Format.h"
#include "mpgbench/BenchDriver.h"
#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchPoints.h"
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <time.h>
#include <unistd.h>

using namespace mpg;

namespace {

using Kind = Conclusion::Kind;

const Experiment *const memoryExperiments[] = {
    &triadExperiment,  &faultExperiment, &chaseExperiment, &latencyExperiment,
    &strideExperiment, &mixExperiment,   &gupsExperiment,  &saxpyExperiment};

/// A node with \p poolPages free pages of 2 MiB and no limits.
Node nodeWith(uint64_t poolPages, uint64_t baseBytes = 4096) {
  Node node;
  node.pages.baseBytes = baseBytes;
  node.pages.pools = std::vector<HugePool>{
      {2 << 20, poolPages, poolPages, uint64_t(0), uint64_t(0), uint64_t(0)}};
  node.transparent.present = true;
  node.transparent.enabled = std::string("madvise");
  node.transparent.pageBytes = uint64_t(baseBytes) == 4096 ? 2 << 20 : 1 << 29;
  return node;
}

PlanContext makeContext(const Node &node, bool quick = false, unsigned cpus = 4,
                        uint64_t memoryBytes = uint64_t(16) << 30) {
  return {node, cpus, quick, /*hasRuntime=*/true, memoryBytes};
}

uint64_t getSize(const Parameters &parameters) {
  for (const char *name : {"bytes", "size"})
    if (auto bytes = parseBytes(parameter(parameters, name)))
      return *bytes;
  return 24 * parseNumber(parameter(parameters, "n")).value_or(0);
}

uint64_t findLargest(const std::vector<PlannedPoint> &plan) {
  uint64_t max = 0;
  for (const PlannedPoint &point : plan)
    max = std::max(max, getSize(point.parameters));
  return max;
}

std::string baseName() { return sizeName(uint64_t(sysconf(_SC_PAGESIZE))); }

} // namespace

// Plans

TEST(ExperimentPlans, PointsHaveNamesOfTheirOwnAndSizes) {
  Node node = nodeWith(1024);
  for (bool quick : {false, true})
    for (unsigned cpus : {1u, 48u})
      for (const Experiment *experiment : memoryExperiments) {
        std::set<std::string> names;
        for (const PlannedPoint &point :
             experiment->plan(makeContext(node, quick, cpus))) {
          std::string name = pointName(experiment->name, point.parameters);
          EXPECT_TRUE(names.insert(name).second) << name;
          EXPECT_GT(getSize(point.parameters), 0u) << name;
          EXPECT_EQ(point.missing, "") << name;
        }
        EXPECT_FALSE(names.empty());
      }
}

TEST(ExperimentPlans, QuickOnesAreSmaller) {
  Node node = nodeWith(1024);
  for (const Experiment *experiment : memoryExperiments)
    EXPECT_LE(4 * findLargest(experiment->plan(makeContext(node, true))),
              findLargest(experiment->plan(makeContext(node, false))))
        << experiment->name;
}

TEST(ExperimentPlans, SizesFollowThePoolAndTheMemory) {
  struct Case {
    uint64_t poolPages, memoryBytes, max;
  };
  const Case cases[] = {
      {512, uint64_t(16) << 30, 1 << 30},
      {511, uint64_t(16) << 30, 512 << 20},
      {32, uint64_t(16) << 30, 64 << 20},
      // Too small to be worth it: the others are measured in full.
      {31, uint64_t(16) << 30, 1 << 30},
      {0, uint64_t(16) << 30, 1 << 30},
      {1024, 300 << 20, 256 << 20},
      {0, 300 << 20, 256 << 20},
  };
  for (const Case &test : cases) {
    Node node = nodeWith(test.poolPages);
    PlanContext context = makeContext(node, false, 4, test.memoryBytes);
    for (const Experiment *experiment : {&faultExperiment, &latencyExperiment})
      EXPECT_EQ(findLargest(experiment->plan(context)), test.max)
          << experiment->name << " " << test.poolPages;
    EXPECT_LE(findLargest(triadExperiment.plan(context)), test.memoryBytes);
  }
}

TEST(ExperimentPlans, WithoutAPoolThePointsSayWhatIsMissing) {
  Node node = nodeWith(0);
  for (const PlannedPoint &point : faultExperiment.plan(makeContext(node))) {
    bool isPool = parameter(point.parameters, "pages") == "2M";
    EXPECT_EQ(point.missing.find("512 pages of 2 MiB are needed") == 0, isPool)
        << point.missing;
  }
  // The sweep takes what it can get instead.
  for (const PlannedPoint &point : latencyExperiment.plan(makeContext(node))) {
    EXPECT_NE(parameter(point.parameters, "pages"), "2M");
    EXPECT_EQ(point.missing, "");
  }
}

TEST(ExperimentPlans, PagingPolicyNeedsTheRuntime) {
  Node node = nodeWith(1024);
  PlanContext context = makeContext(node);
  context.hasRuntime = false;
  unsigned policies = 0;
  for (const PlannedPoint &point : triadExperiment.plan(context)) {
    bool isPolicy = !parameter(point.parameters, "policy").empty();
    policies += isPolicy;
    EXPECT_EQ(point.needsRuntime, isPolicy);
    EXPECT_EQ(!point.missing.empty(), isPolicy);
  }
  EXPECT_EQ(policies, 2u);
}

TEST(ExperimentPlans, BasePagesOf64KiB) {
  Node node = nodeWith(1024, 65536);
  for (const Experiment *experiment : memoryExperiments)
    EXPECT_EQ(parameter(experiment->plan(makeContext(node)).front().parameters,
                        "pages"),
              "64K");
  EXPECT_EQ(
      parameter(chaseExperiment.plan(makeContext(node)).front().parameters,
                "stride"),
      "64K");
}

TEST(ExperimentPlans, GuidesTriadIsConvertedToOurBytes) {
  std::vector<GuideFigure> figures = triadExperiment.guide();
  ASSERT_EQ(figures.size(), 4u);
  EXPECT_NEAR(figures[0].value, 46.3, 0.05);
  EXPECT_NEAR(figures[1].value, 58.0, 0.05);
  for (const Experiment *experiment : memoryExperiments)
    for (const GuideFigure &figure : experiment->guide()) {
      EXPECT_NE(figure.source.find("guide"), std::string::npos);
      EXPECT_GT(figure.value, 0);
    }
}

TEST(BenchPoints, PartsCoverAllAndMeetAtSteps) {
  for (uint64_t count : {0, 1, 31, 32, 33, 1000, 4096})
    for (unsigned threads : {1u, 2u, 7u, 64u}) {
      uint64_t at = 0;
      for (unsigned thread = 0; thread < threads; ++thread) {
        Part part = getPart(count, 32, thread, threads);
        EXPECT_EQ(part.begin, at);
        EXPECT_TRUE(part.begin % 32 == 0 || part.begin == count);
        EXPECT_LE(part.count(), (count / 32 / threads + 1) * 32);
        at = part.end;
      }
      EXPECT_EQ(at, count);
    }
}

// Workers

TEST(ExperimentWorkers, SmallPointsAreMeasured) {
  struct Case {
    const Experiment *experiment;
    Parameters parameters;
  };
  std::string base = baseName();
  const Case cases[] = {
      {&triadExperiment, {{"pages", base}, {"threads", "2"}, {"n", "100003"}}},
      {&triadExperiment, {{"pages", base}, {"threads", "7"}, {"n", "1000"}}},
      {&faultExperiment,
       {{"pages", base}, {"threads", "3"}, {"by", "touch"}, {"bytes", "3M"}}},
      {&chaseExperiment, {{"pages", base}, {"bytes", "1M"}, {"stride", "4K"}}},
      {&latencyExperiment,
       {{"pages", base}, {"size", "16K"}, {"stride", "64"}}},
      {&latencyExperiment,
       {{"pages", base}, {"size", "1M"}, {"stride", "256"}}},
      {&strideExperiment,
       {{"pages", base}, {"stride", "8"}, {"line", "64"}, {"bytes", "1M"}}},
      {&strideExperiment,
       {{"pages", base}, {"stride", "4K"}, {"line", "256"}, {"bytes", "1M"}}},
      {&mixExperiment,
       {{"pages", base}, {"threads", "3"}, {"reads", "75%"}, {"bytes", "1M"}}},
      {&gupsExperiment, {{"pages", base}, {"threads", "1"}, {"bytes", "1M"}}},
      {&gupsExperiment, {{"pages", base}, {"threads", "2"}, {"bytes", "1M"}}},
      {&saxpyExperiment, {{"pages", base}, {"stride", "1"}, {"bytes", "1M"}}},
      {&saxpyExperiment,
       {{"pages", base}, {"stride", "1024"}, {"bytes", "1M"}}},
      {&loadedExperiment,
       {{"pause", "64"}, {"threads", "2"}, {"pages", base}, {"bytes", "1M"}}},
      {&loadedExperiment,
       {{"pause", "idle"}, {"threads", "1"}, {"pages", base}, {"bytes", "1M"}}},
      {&varyExperiment, {{"pages", base}, {"size", "64K"}, {"stride", "64"}}},
  };
  for (const Case &test : cases) {
    WorkerResult result = test.experiment->measure(test.parameters);
    std::string name = pointName(test.experiment->name, test.parameters);
    EXPECT_EQ(result.error, "") << name;
    EXPECT_GT(result.value, 0) << name;
    EXPECT_GT(result.backing.normalBytes, 0u) << name;
    EXPECT_EQ(result.backing.hugetlbBytes, 0u) << name;
  }
}

TEST(ExperimentWorkers, FaultsAreCounted) {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  WorkerResult result = faultExperiment.measure({{"pages", sizeName(page)},
                                                 {"threads", "1"},
                                                 {"by", "touch"},
                                                 {"bytes", "4M"}});
  ASSERT_EQ(result.error, "");
  EXPECT_GE(result.figures["faults"], double((4 << 20) / page));
  EXPECT_GT(result.figures["ns_per_fault"], 0);
}

TEST(ExperimentWorkers, NonsenseIsAnError) {
  struct Case {
    const Experiment *experiment;
    Parameters parameters;
    const char *why;
  };
  std::string base = baseName();
  const Case cases[] = {
      {&triadExperiment, {}, "n=: not a number"},
      {&triadExperiment, {{"n", "0"}, {"threads", "1"}}, "n=0"},
      {&triadExperiment, {{"n", "-1"}, {"threads", "1"}}, "n=-1"},
      {&triadExperiment, {{"n", "9223372036854775807"}}, "n=9223372036854775"},
      {&triadExperiment, {{"n", "8"}, {"threads", "99999999"}}, "threads="},
      {&triadExperiment, {{"n", "8"}, {"threads", "1"}, {"pages", "7K"}}, "7K"},
      {&triadExperiment,
       {{"n", "8"}, {"threads", "1"}, {"policy", "maybe"}},
       "policy=maybe"},
      {&triadExperiment,
       {{"n", "8"}, {"threads", "1"}, {"policy", "demand"}},
       "libmpg was to be preloaded"},
      {&faultExperiment, {{"threads", "1"}, {"bytes", "1M"}}, "by="},
      {&faultExperiment,
       {{"threads", "2"}, {"bytes", "1M"}, {"by", "populate"}},
       "one thread"},
      {&faultExperiment,
       {{"threads", "1"}, {"bytes", "1E"}, {"by", "touch"}},
       "bytes=1E"},
      {&chaseExperiment, {{"bytes", "1M"}, {"stride", "12"}}, "stride=12"},
      {&chaseExperiment, {{"bytes", "4K"}, {"stride", "4K"}}, "stride=4K"},
      {&latencyExperiment, {{"size", "1M"}}, "stride="},
      {&strideExperiment,
       {{"bytes", "1M"}, {"stride", "100"}, {"line", "64"}},
       "stride=100"},
      {&strideExperiment,
       {{"bytes", "1M"}, {"stride", "96"}, {"line", "64"}},
       "stride=96"},
      {&mixExperiment,
       {{"bytes", "1M"}, {"threads", "1"}, {"reads", "33%"}},
       "reads=33%"},
      {&gupsExperiment, {{"bytes", "1M"}, {"threads", "99999999"}}, "threads="},
      {&saxpyExperiment, {{"bytes", "1M"}, {"stride", "2048"}}, "stride=2048"},
      {&loadedExperiment,
       {{"pause", "long"}, {"threads", "1"}, {"bytes", "1M"}},
       "pause=long"},
      {&tlbExperiment,
       {{"count", "0"}, {"apart", "1"}, {"pages", base}},
       "count=0"},
      {&tlbExperiment, {{"count", "8"}, {"apart", "1"}, {"pages", "7K"}}, "7K"},
      {&numaExperiment,
       {{"cpus", "0"}, {"memory", "4095"}, {"bytes", "1M"}},
       "memory=4095"},
      {&latencyExperiment,
       {{"size", "100000G"}, {"stride", "64"}, {"pages", base}},
       "size=100000G"},
  };
  for (const Case &test : cases) {
    WorkerResult result = test.experiment->measure(test.parameters);
    EXPECT_NE(result.error.find(test.why), std::string::npos)
        << pointName(test.experiment->name, test.parameters) << ": "
        << result.error;
    EXPECT_EQ(result.value, 0);
  }
}

// Conclusions

namespace {

/// Eight rounds around \p value, each a little off it.
PointResult makeSamples(Parameters parameters, double value) {
  PointResult point;
  point.parameters = std::move(parameters);
  for (unsigned round = 0; round < 8; ++round) {
    WorkerResult sample;
    sample.value = value * (1 + 0.002 * (round * 5 % 8));
    point.samples.push_back(sample);
    point.rounds.push_back(round);
  }
  point.summary = summarise(getValues(point));
  return point;
}

ExperimentResult faultResult(double baseMs, double largeMs) {
  ExperimentResult result;
  result.points = {
      makeSamples({{"pages", baseName()}, {"threads", "1"}, {"by", "touch"}},
                  baseMs),
      makeSamples({{"pages", "2M"}, {"threads", "1"}, {"by", "touch"}},
                  largeMs)};
  return result;
}

/// A sweep over four sizes.
ExperimentResult sweep(std::vector<double> base, std::vector<double> large) {
  static const char *const sizes[] = {"16K", "1M", "64M", "256M"};
  ExperimentResult result;
  for (size_t i = 0; i < base.size(); ++i) {
    result.points.push_back(
        makeSamples({{"pages", baseName()}, {"size", sizes[i]}}, base[i]));
    result.points.push_back(
        makeSamples({{"pages", "2M"}, {"size", sizes[i]}}, large[i]));
  }
  return result;
}

} // namespace

TEST(ExperimentConclusions, FirstTouchMustBeFourTimesCheaper) {
  ExperimentResult result = faultResult(400, 45);
  faultExperiment.conclude(result);
  ASSERT_FALSE(result.conclusions.empty());
  EXPECT_EQ(result.conclusions[0].kind, Kind::yes);
  EXPECT_NEAR(result.conclusions[0].ratio.value, 400.0 / 45, 0.2);

  result = faultResult(400, 200);
  faultExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::no);

  result = faultResult(400, 45);
  result.points[1].isBusy = true;
  faultExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::undecided);

  result = faultResult(400, 45);
  result.points[1].samples.clear();
  result.points[1].missing = "no free pages";
  faultExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::notMeasured);
  EXPECT_NE(result.conclusions[0].text.find("no free pages"),
            std::string::npos);
}

TEST(ExperimentConclusions, TheCurvesPartWhereAllLargerSizesDiffer) {
  ExperimentResult result = sweep({1, 8, 160, 200}, {1, 8, 120, 140});
  latencyExperiment.conclude(result);
  ASSERT_EQ(result.conclusions.size(), 2u);
  EXPECT_EQ(result.conclusions[0].kind, Kind::yes);
  EXPECT_EQ(result.conclusions[0].text.find("2M pages are faster from 64M on"),
            0u)
      << result.conclusions[0].text;
  EXPECT_EQ(result.conclusions[1].kind, Kind::yes);
}

TEST(ExperimentConclusions, OneSizeThatDiffersIsNoParting) {
  ExperimentResult result = sweep({1, 9, 160, 200}, {1, 8, 160, 200});
  latencyExperiment.conclude(result);
  ASSERT_EQ(result.conclusions.size(), 1u); // about the largest size
  EXPECT_FALSE(result.conclusions[0].ratio.isReal());
  result = sweep({1, 9, 160, 200}, {1, 8, 160, 250});
  latencyExperiment.conclude(result);
  ASSERT_EQ(result.conclusions.size(), 1u);
  EXPECT_EQ(result.conclusions[0].kind, Kind::no);
}

TEST(ExperimentConclusions, NothingMeasuredIsToldAsThat) {
  for (const Experiment *experiment : memoryExperiments) {
    ExperimentResult result;
    Node node = nodeWith(0);
    for (PlannedPoint &planned : experiment->plan(makeContext(node))) {
      PointResult point;
      point.parameters = planned.parameters;
      point.missing = "the run was stopped";
      result.points.push_back(point);
    }
    experiment->conclude(result);
    EXPECT_FALSE(result.conclusions.empty()) << experiment->name;
    for (const Conclusion &conclusion : result.conclusions)
      EXPECT_EQ(conclusion.kind, Kind::notMeasured) << conclusion.text;
    ExperimentResult empty;
    experiment->conclude(empty); // no points at all
  }
}

TEST(ExperimentConclusions, PlateausAreLevels) {
  // Two caches with a point between them, and memory.
  std::vector<Level> levels =
      findLevels({1.0, 1.02, 1.0, 2.5, 4, 4.1, 100, 101});
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].last, 2u);
  EXPECT_EQ(levels[1].first, 4u);
  EXPECT_EQ(levels[1].last, 5u);
  EXPECT_EQ(levels[2].first, 6u);
  EXPECT_NEAR(levels[2].value, 100.5, 0.01);
  // One level, however noisy, does not count as two; and a slope has none.
  EXPECT_EQ(findLevels({10, 10.5, 12, 11, 10.5}).size(), 1u);
  EXPECT_TRUE(findLevels({1, 2, 4, 8, 16}).empty());
  EXPECT_TRUE(findLevels({}).empty());
}

TEST(ExperimentConclusions, LatencyNamesItsLevels) {
  ExperimentResult result = sweep({1, 1, 100, 100}, {1, 1, 90, 90});
  latencyExperiment.conclude(result);
  // Their names go by the caches of the machine that the test runs on.
  EXPECT_TRUE(std::regex_match(
      result.conclusions[0].text,
      std::regex("levels on 2M pages:( L[123])? 1\\.0 ns up to 1M,( L[23]| "
                 "memory)? 90\\.6 ns from 64M on")))
      << result.conclusions[0].text;
  EXPECT_EQ(result.conclusions[0].kind, Kind::yes);
  result.points[1].isBusy = true;
  result.conclusions.clear();
  latencyExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::undecided);
}

/// \p load: what the other threads read.
static PointResult loadedPoint(const char *pause, double ns, double load) {
  PointResult point = makeSamples({{"pause", pause}}, ns);
  for (WorkerResult &sample : point.samples)
    sample.figures["load_gbs"] = load;
  return point;
}

TEST(ExperimentConclusions, TheKneeIsAnInterval) {
  ExperimentResult result;
  result.points = {loadedPoint("idle", 100, 0), loadedPoint("1K", 105, 5),
                   loadedPoint("128", 120, 20), loadedPoint("0", 300, 30)};
  loadedExperiment.conclude(result);
  ASSERT_EQ(result.conclusions.size(), 2u);
  EXPECT_NE(result.conclusions[1].text.find("between 20.0 and 30.0 GB/s"),
            std::string::npos)
      << result.conclusions[1].text;
  result.points.pop_back();
  result.conclusions.clear();
  loadedExperiment.conclude(result);
  EXPECT_NE(result.conclusions[1].text.find("up to 20.0 GB/s"),
            std::string::npos);
}

TEST(ExperimentConclusions, SpreadIsComparedWithoutTheMedian) {
  PointResult base = makeSamples({{"pages", baseName()}, {"size", "1M"}}, 10);
  PointResult large = makeSamples({{"pages", "2M"}, {"size", "1M"}}, 20);
  for (size_t i = 0; i < base.samples.size(); ++i)
    base.samples[i].value = 10 + double(i);
  for (PointResult *point : {&base, &large})
    point->summary = summarise(getValues(*point));
  ExperimentResult result;
  result.points = {base, large};
  varyExperiment.conclude(result);
  ASSERT_EQ(result.conclusions.size(), 1u);
  EXPECT_EQ(result.conclusions[0].kind, Kind::yes);
  EXPECT_EQ(result.conclusions[0].text.find("runs over 1M differ less on 2M"),
            0u);
}

// Mistakes that suites like this one make.

static bool has(llvm::StringRef text, llvm::StringRef part) {
  return text.contains(part);
}

TEST(ExperimentMistakes, TheTimeOfAFlushIsNoLatencyOfStores) {
  for (const Experiment *experiment : experimentList) {
    // EXPECT_NE ends in an else.
    if (has(experiment->title, "store") || has(experiment->title, "write")) {
      EXPECT_NE(experiment->unit, "ns") << experiment->name;
    }
  }
  EXPECT_EQ(mixExperiment.unit, "GB/s");
}

TEST(ExperimentMistakes, TimesAreNoCyclesOfAnotherClock) {
  timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  double now = nowSeconds();
  clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_GE(now, double(before.tv_sec) + double(before.tv_nsec) * 1e-9 - 1e-6);
  EXPECT_LE(now, double(after.tv_sec) + double(after.tv_nsec) * 1e-9 + 1e-6);
}

TEST(ExperimentMistakes, ThePointInMemoryIsFarBeyondTheLastCache) {
  Node node = nodeWith(8192);
  constexpr uint64_t largeCache = 36 << 20;
  for (const Experiment *experiment : {&latencyExperiment, &chaseExperiment})
    EXPECT_GE(findLargest(experiment->plan(makeContext(node))), 8 * largeCache)
        << experiment->name;
}

TEST(ExperimentMistakes, ThreeRunsAndTheBestOfThemAreNoResult) {
  EXPECT_GE(DriveOptions{}.repetitions, 7u);
  ExperimentResult result = faultResult(400, 45);
  for (PointResult &point : result.points) {
    point.samples.resize(3);
    point.rounds.resize(3);
  }
  faultExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::undecided);
  PointResult point = makeSamples({}, 10);
  point.samples.front().value = 1; // the best
  EXPECT_GT(summarise(getValues(point)).median, 5);
}

TEST(ExperimentMistakes, OnlyLoadsThatWaitForEachOtherHaveALatency) {
  for (const Experiment *experiment :
       {&latencyExperiment, &loadedExperiment, &chaseExperiment,
        &varyExperiment, &numaExperiment, &tlbExperiment})
    EXPECT_TRUE(has(experiment->accounting, "random") ||
                has(experiment->accounting, "wait for each other"))
        << experiment->name;
  for (const Experiment *experiment : {&strideExperiment, &mixExperiment}) {
    EXPECT_EQ(experiment->unit, "GB/s");
    EXPECT_FALSE(has(experiment->title, "latency"));
  }
}

TEST(ExperimentMistakes, AWrittenLineMovesTwice) {
  const std::pair<const char *, double> cases[] = {
      {"100%", 1}, {"50%", 1.5}, {"0%", 2}};
  for (const auto &[reads, factor] : cases) {
    WorkerResult result = mixExperiment.measure({{"pages", baseName()},
                                                 {"threads", "1"},
                                                 {"reads", reads},
                                                 {"bytes", "1M"}});
    ASSERT_EQ(result.error, "");
    EXPECT_NEAR(result.figures["bus_gbs"] / result.value, factor, 0.02)
        << reads;
  }
}

TEST(ExperimentMistakes, LoadHasManySteps) {
  Node node = nodeWith(8192);
  std::vector<PlannedPoint> plan = loadedExperiment.plan(makeContext(node));
  EXPECT_GE(plan.size(), 12u);
  EXPECT_EQ(parameter(plan.front().parameters, "pause"), "idle");
}

TEST(ExperimentMistakes, SmallAndLargePagesStandSideBySide) {
  Node node = nodeWith(8192);
  for (const Experiment *experiment : {&latencyExperiment, &strideExperiment}) {
    std::map<std::string, std::set<std::string>> kinds;
    for (const PlannedPoint &point : experiment->plan(makeContext(node)))
      kinds[parameter(point.parameters, "pages").str()].insert(
          parameter(point.parameters, experiment->xParameter).str());
    EXPECT_EQ(kinds[baseName()], kinds["2M"]) << experiment->name;
    EXPECT_GE(kinds["2M"].size(), 8u) << experiment->name;
  }
}

TEST(ExperimentMistakes, ASentenceNeedsAnInterval) {
  ExperimentResult result = faultResult(400, 60);
  faultExperiment.conclude(result);
  EXPECT_EQ(result.conclusions[0].kind, Kind::yes);
  // The same medians, and samples that scatter by more than they differ.
  for (size_t i = 0; i < result.points[1].samples.size(); ++i)
    result.points[1].samples[i].value *= i % 2 ? 8 : 1;
  result.conclusions.clear();
  faultExperiment.conclude(result);
  EXPECT_NE(result.conclusions[0].kind, Kind::yes);
}
