// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conclusions of mpgrun --compare from times: the sentences, when there is no
// verdict, and which mode the last line names.

#include "mpgrun/Compare/CompareResult.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace mpg;

static Ratio ratio(double value, double low, double high) {
  Ratio result;
  result.value = value;
  result.interval = {low, high};
  return result;
}

TEST(CompareVerdict, SaysWhatTheIntervalSays) {
  const struct {
    Ratio speedup;
    SpeedVerdict verdict;
    const char *text;
  } cases[] = {
      {ratio(1.12, 1.09, 1.15), SpeedVerdict::faster,
       "1.12x faster [1.09, 1.15]"},
      {ratio(0.8, 0.5, 0.9), SpeedVerdict::slower, "1.25x slower [1.11, 2.00]"},
      {ratio(1.0, 0.98, 1.02), SpeedVerdict::noGain,
       "no gain: 1.00x [0.98, 1.02]"},
      {ratio(1.0, 0.96, 1.05), SpeedVerdict::noGain,
       "no gain: 1.00x [0.96, 1.05]"},
      {ratio(0.93, 0.80, 1.02), SpeedVerdict::noGain,
       "no gain: 0.93x [0.80, 1.02]"},
      {ratio(1.02, 0.90, 1.06), SpeedVerdict::undecided,
       "undecided: 1.02x [0.90, 1.06]"},
      // Sure, and too small to show.
      {ratio(1.004, 1.001, 1.006), SpeedVerdict::noGain,
       "no gain: 1.00x [1.00, 1.01]"},
      {ratio(0.997, 0.995, 0.999), SpeedVerdict::noGain,
       "no gain: 1.00x [0.99, 1.00]"},
  };
  for (const auto &test : cases) {
    EXPECT_EQ(judgeSpeedup(test.speedup), test.verdict) << test.text;
    EXPECT_EQ(describeSpeedup(test.speedup, Basis::wallTime), test.text);
  }
}

TEST(CompareVerdict, IsUndecidedWithoutAnInterval) {
  Ratio speedup;
  speedup.value = 1.5;
  EXPECT_EQ(judgeSpeedup(speedup), SpeedVerdict::undecided);
  EXPECT_EQ(describeSpeedup(speedup, Basis::wallTime),
            "undecided: 1.50x, fewer than 6 rounds give no interval");
}

/// A mode whose runs took \p wallSeconds; the warm-up took far longer, and must
/// not count.
static ModeResult modeWith(const char *name, double wallSeconds) {
  ModeResult mode;
  mode.name = name;
  mode.usesLibmpg = mode.name != "none";
  mode.memory.measured = mode.memory.hasState = true;
  mode.memory.bytes = mode.memory.peakBytes = 300 << 20;
  mode.memory.hugeBytes = mode.memory.peakHugeBytes =
      mode.usesLibmpg ? 300 << 20 : 0;
  for (unsigned round = 0; round <= 10; ++round) {
    RunSample sample;
    sample.round = round;
    sample.wallSeconds = round ? wallSeconds * (1 + 0.0001 * round) : 1000;
    mode.samples.push_back(sample);
  }
  return mode;
}

static Comparison makeComparison(std::vector<ModeResult> modes) {
  Comparison comparison;
  comparison.command = {"app"};
  comparison.rounds = 10;
  comparison.modes = std::move(modes);
  comparison.isLoadKnown = true;
  return comparison;
}

TEST(CompareVerdict, EndsWithTheBestMode) {
  Comparison both = makeComparison(
      {modeWith("none", 1.2), modeWith("thp", 1.1), modeWith("hugetlb", 1.0)});
  EXPECT_EQ(describeMode(both, both.modes[1]),
            "thp: 1.09x faster [1.09, 1.09]");
  EXPECT_EQ(describeBest(both),
            "large pages: 1.20x faster [1.20, 1.20] (hugetlb)");
  Comparison same = makeComparison(
      {modeWith("none", 1.0), modeWith("thp", 1.3), modeWith("hugetlb", 1.0)});
  EXPECT_EQ(describeBest(same), "no gain: 1.00x [1.00, 1.00] (hugetlb)");
  Comparison slower =
      makeComparison({modeWith("none", 1.0), modeWith("thp", 1.25)});
  EXPECT_EQ(describeBest(slower),
            "large pages: 1.25x slower [1.25, 1.25] (thp)");
  Comparison otherBase =
      makeComparison({modeWith("thp", 1.1), modeWith("hugetlb", 1.0)});
  EXPECT_EQ(describeBest(otherBase),
            "hugetlb against thp: 1.10x faster [1.10, 1.10] (hugetlb)");
}

/// Other processes had the CPUs half of the time; CPU time decides what wall
/// time cannot.
static Comparison busyComparison() {
  Comparison busy =
      makeComparison({modeWith("none", 1.2), modeWith("hugetlb", 1.3)});
  busy.load.othersCpus = 1.3;
  for (ModeResult &mode : busy.modes)
    for (RunSample &sample : mode.samples)
      sample.userSeconds = mode.name == "none" ? 0.6 : 0.5;
  return busy;
}

TEST(CompareVerdict, IsOfCpuTimeOnABusyMachine) {
  Comparison busy = busyComparison();
  EXPECT_EQ(describeMode(busy, busy.modes[1]),
            "hugetlb: 1.20x faster [1.20, 1.20] by CPU time");
  EXPECT_EQ(describeBest(busy),
            "large pages: 1.20x faster [1.20, 1.20] (hugetlb) by CPU time; the "
            "machine was busy: other processes used 1.30 CPUs, steal 0.00");
  busy.metric = Metric{"([0-9]+)", false};
  EXPECT_EQ(computeBasis(busy), Basis::cpuTime);
}

TEST(CompareVerdict, HasNoneWhereCpuTimeIsNotTheProgramsAlone) {
  Comparison stolen = busyComparison(), left = busyComparison(),
             none = busyComparison();
  stolen.load.stealCpus = 0.1;
  left.leftProcesses = true;
  none.modes[1].samples[3].userSeconds = 0;
  for (const Comparison &busy : {stolen, left, none}) {
    EXPECT_EQ(describeMode(busy, busy.modes[1]),
              "hugetlb: measured 0.92x [0.92, 0.92]");
    EXPECT_TRUE(isDecided(busy));
  }
  EXPECT_EQ(describeBest(stolen), "no verdict: the hypervisor took 0.10 CPUs, "
                                  "and CPU time holds some of that");
  EXPECT_EQ(describeBest(left),
            "no verdict: the machine was busy: other processes used 1.30 CPUs, "
            "steal 0.00; CPU time of processes that outlived the program is "
            "missing");
  EXPECT_EQ(describeBest(none),
            "no verdict: the machine was busy: other processes used 1.30 CPUs, "
            "steal 0.00; CPU time was not measured");
}

/// The report has it all the same.
TEST(CompareVerdict, IsOfWallTimeWithALittleSteal) {
  Comparison quiet =
      makeComparison({modeWith("none", 1.2), modeWith("hugetlb", 1.0)});
  quiet.load.othersCpus = 0.01;
  quiet.load.stealCpus = 0.04;
  EXPECT_EQ(describeBest(quiet),
            "large pages: 1.20x faster [1.20, 1.20] (hugetlb)");
}

/// One pair of seven in the other direction leaves 95 % but not 98 %.
TEST(CompareVerdict, IsDecidedIfAStricterIntervalSaysTheSame) {
  Comparison comparison =
      makeComparison({modeWith("none", 1.2), modeWith("hugetlb", 1.0)});
  EXPECT_TRUE(isDecided(comparison));
  for (ModeResult &mode : comparison.modes)
    mode.samples.resize(8);
  EXPECT_TRUE(isDecided(comparison));
  comparison.modes[1].samples[3].wallSeconds = 1.21;
  EXPECT_EQ(judgeSpeedup(computeSpeedup(comparison, comparison.modes[1])),
            SpeedVerdict::faster);
  EXPECT_FALSE(isDecided(comparison));
  for (ModeResult &mode : comparison.modes)
    mode.samples.resize(5); // fewer than six of which one does not count
  EXPECT_FALSE(isDecided(comparison));
}

TEST(CompareVerdict, IsOfTheMetric) {
  Comparison comparison =
      makeComparison({modeWith("none", 1.0), modeWith("thp", 1.0)});
  for (ModeResult &mode : comparison.modes)
    for (RunSample &sample : mode.samples)
      sample.metric.value = mode.name == "none" ? 30 : 60;
  comparison.metric = Metric{"([0-9]+)", /*isMoreBetter=*/true};
  EXPECT_EQ(describeBest(comparison),
            "large pages: 2.00x better [2.00, 2.00] (thp)");
  comparison.metric->isMoreBetter = false;
  EXPECT_EQ(describeBest(comparison),
            "large pages: 2.00x worse [2.00, 2.00] (thp)");
}

TEST(CompareVerdict, SaysThatThereWereNoLargePages) {
  ModeResult without = modeWith("hugetlb", 1.0);
  without.memory.hugeBytes = without.memory.peakHugeBytes = 0;
  without.memory.fallback = true;
  without.memory.reason = "the pool is empty";
  Comparison alone = makeComparison({modeWith("none", 1.2), without});
  EXPECT_EQ(describeMode(alone, alone.modes[1]),
            "hugetlb: 0 B of 300 MiB on large pages: the pool is empty; 1.20x "
            "[1.20, 1.20] says nothing about them");
  EXPECT_EQ(describeBest(alone), "no verdict: hugetlb: 0 B of 300 MiB on large "
                                 "pages: the pool is empty");
  // Another mode had some: the verdict is its.
  Comparison with =
      makeComparison({modeWith("none", 1.2), without, modeWith("thp", 1.1)});
  EXPECT_EQ(describeBest(with), "large pages: 1.09x faster [1.09, 1.09] (thp)");
}

TEST(CompareVerdict, LeavesOutWhatFailed) {
  ModeResult failed = modeWith("hugetlb", 0.1);
  failed.missing = "failed: ended with status 3, with none status 0";
  Comparison comparison =
      makeComparison({modeWith("none", 1.2), modeWith("thp", 1.1), failed});
  EXPECT_EQ(describeMode(comparison, comparison.modes[2]),
            "hugetlb: failed: ended with status 3, with none status 0");
  EXPECT_EQ(describeBest(comparison),
            "large pages: 1.09x faster [1.09, 1.09] (thp)");
}
