// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The experiments arena, thresh and embed without the driver: their plans for
// other machines, a worker's answer to points that make no sense or whose
// library is missing, and their conclusions.

#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <set>

using namespace llvm;
using namespace mpg;

namespace {

constexpr uint64_t mib = 1 << 20;
const Experiment *const ours[] = {&arenaExperiment, &threshExperiment,
                                  &embedExperiment};

/// A node with \p poolPages free pages of 2 MiB and \p nodes NUMA nodes.
Node fakeNode(uint64_t poolPages, unsigned nodes) {
  Node node;
  HugePool pool;
  pool.pageBytes = 2 * mib;
  pool.total = pool.free = Fact<uint64_t>(poolPages);
  pool.reserved = pool.surplus = pool.overcommit = Fact<uint64_t>(0);
  node.pages.baseBytes = Fact<uint64_t>(4096);
  node.pages.pools = Fact<std::vector<HugePool>>({pool});
  for (unsigned id = 0; id < nodes; ++id) {
    NumaNode numa;
    numa.id = id;
    numa.memoryBytes = Fact<uint64_t>(8192 * mib);
    node.numa.nodes.push_back(numa);
  }
  return node;
}

std::vector<PlannedPoint> plan(const Experiment &experiment, const Node &node,
                               bool quick, uint64_t memoryBytes) {
  return experiment.plan({node, 4, quick, true, memoryBytes});
}

std::string getError(const Experiment &experiment,
                     const Parameters &parameters) {
  return experiment.measure(parameters).error;
}

/// Bytes of table and results of an embedding point.
uint64_t embedBytes(const PlannedPoint &point) {
  auto [rows, dim] = parameter(point.parameters, "table").split('x');
  uint64_t rowCount = 0, dims = 0;
  EXPECT_FALSE(rows.getAsInteger(10, rowCount));
  EXPECT_FALSE(dim.getAsInteger(10, dims));
  return (rowCount + rowCount * 65536 / 151936) * dims * 4;
}

/// A point of \p result that was measured in seven rounds.
void addMeasured(ExperimentResult &result, Parameters parameters,
                 double value) {
  PointResult point;
  point.parameters = std::move(parameters);
  for (unsigned round = 1; round <= 7; ++round) {
    WorkerResult sample;
    sample.value = value * (1 + 0.001 * round);
    sample.figures["conflicting_a64fx_sets"] = value > 1 ? 64 : 0;
    point.samples.push_back(sample);
    point.rounds.push_back(round);
  }
  result.points.push_back(std::move(point));
}

} // namespace

TEST(HeapExperiments, PointsAreDifferentAndSayWhatTheyNeed) {
  for (const Experiment *experiment : ours)
    for (bool quick : {false, true}) {
      std::set<std::string> names;
      for (const PlannedPoint &point :
           plan(*experiment, fakeNode(4096, 2), quick, 8192 * mib)) {
        EXPECT_TRUE(
            names.insert(pointName(experiment->name, point.parameters)).second);
        // A setting of libmpg without libmpg would measure nothing.
        for (const auto &[name, value] : point.environment)
          EXPECT_TRUE(point.needsRuntime ||
                      !StringRef(name).starts_with("XOS_MMM_L_"))
              << name;
        EXPECT_NE(parameter(point.parameters, "heap") == "glibc",
                  point.needsRuntime || experiment == &embedExperiment)
            << names.size();
      }
      EXPECT_GE(names.size(), 6U);
    }
}

TEST(HeapExperiments, PlansFitIntoMemoryAndPool) {
  const struct {
    uint64_t poolPages, memoryBytes, room;
  } cases[] = {{0, 64 * mib, 64 * mib},
               {0, 700 * mib, 700 * mib},
               {100, 8192 * mib, 200 * mib},
               {4096, 8192 * mib, 8192 * mib}};
  for (const auto &test : cases)
    for (bool quick : {false, true}) {
      Node node = fakeNode(test.poolPages, 1);
      for (const PlannedPoint &point :
           plan(embedExperiment, node, quick, test.memoryBytes))
        EXPECT_LE(embedBytes(point), test.room);
      for (const PlannedPoint &point :
           plan(arenaExperiment, node, quick, test.memoryBytes)) {
        uint64_t blocks = 0, threads = 1;
        parameter(point.parameters, "threads").getAsInteger(10, threads);
        parameter(point.parameters, "blocks").getAsInteger(10, blocks);
        bool isCycle = parameter(point.parameters, "test") == "cycle";
        EXPECT_LE(blocks * threads * (isCycle ? 8 * mib : mib / 16), test.room);
      }
    }
}

TEST(HeapExperiments, AReplicaNeedsASecondNode) {
  for (unsigned nodes : {1, 4}) {
    unsigned replicas = 0;
    for (const PlannedPoint &point :
         plan(embedExperiment, fakeNode(2048, nodes), true, 8192 * mib)) {
      if (parameter(point.parameters, "replication").empty())
        continue;
      ++replicas;
      EXPECT_EQ(point.missing.empty(), nodes > 1);
    }
    EXPECT_EQ(replicas, 2U);
  }
}

TEST(HeapExperiments, WhatMakesNoSenseIsAnError) {
  const struct {
    const Experiment *experiment;
    Parameters parameters;
    const char *error;
  } cases[] = {
      {&arenaExperiment, {}, "no phase ''"},
      {&arenaExperiment,
       {{"test", "cycle"}, {"heap", "glibc"}, {"phase", "free3"}},
       "no phase 'free3'"},
      {&arenaExperiment,
       {{"test", "cycle"}, {"heap", "glibc"}, {"phase", "free1"}},
       "blocks=: not a number"},
      {&arenaExperiment,
       {{"test", "parallel"}, {"heap", "glibc"}, {"threads", "-3"}},
       "threads=-3: not a number"},
      {&threshExperiment, {{"heap", "tcmalloc"}}, "no heap 'tcmalloc'"},
      {&embedExperiment, {}, "rows=: not a number"},
      {&embedExperiment,
       {{"table", "0x4"}, {"threads", "1"}, {"distribution", "uniform"}},
       "rows=0: not a number"},
      {&embedExperiment,
       {{"table", "9x4"}, {"threads", "1"}, {"distribution", "pareto"}},
       "no distribution 'pareto'"},
      {&embedExperiment,
       {{"table", "9x4"}, {"threads", "1"}, {"distribution", "zipf--1"}},
       "0 or more"},
      {&embedExperiment,
       {{"table", "9x4"},
        {"threads", "1"},
        {"distribution", "uniform"},
        {"pages", "3M"}},
       "3M"},
  };
  for (const auto &test : cases) {
    std::string error = getError(*test.experiment, test.parameters);
    EXPECT_NE(error.find(test.error), std::string::npos) << error;
  }
}

TEST(HeapExperiments, PointsOfLibmpgFailWhereItIsNotLoaded) {
  const struct {
    const Experiment *experiment;
    Parameters parameters;
  } cases[] = {
      {&arenaExperiment,
       {{"test", "cycle"},
        {"heap", "free-2"},
        {"phase", "free1"},
        {"blocks", "1"}}},
      {&threshExperiment, {{"heap", "coloring-1"}}},
      {&embedExperiment,
       {{"table", "9x4"},
        {"threads", "1"},
        {"distribution", "uniform"},
        {"replication", "on"}}},
  };
  for (const auto &test : cases) {
    std::string error = getError(*test.experiment, test.parameters);
    EXPECT_NE(error.find("not in the process"), std::string::npos) << error;
  }
}

TEST(HeapExperiments, SmallPointsOfTheCLibraryAreMeasured) {
  std::string basePages = basePageName();
  const std::pair<const Experiment *, Parameters> points[] = {
      {&arenaExperiment,
       {{"test", "cycle"},
        {"heap", "glibc"},
        {"phase", "free2"},
        {"blocks", "2"}}},
      {&arenaExperiment,
       {{"test", "parallel"},
        {"heap", "glibc"},
        {"phase", "malloc+free"},
        {"threads", "3"},
        {"blocks", "4"}}},
      {&threshExperiment, {{"heap", "glibc"}}},
      // More threads than lookups: most of them have none.
      {&embedExperiment,
       {{"table", "3x5"},
        {"threads", "4"},
        {"distribution", "zipf-1.2"},
        {"pages", basePages}}},
  };
  for (const auto &[experiment, parameters] : points) {
    WorkerResult result = experiment->measure(parameters);
    EXPECT_EQ(result.error, "");
    EXPECT_GT(result.value, 0);
    EXPECT_GT(result.backing.normalBytes + result.backing.thpBytes, 0U);
  }
}

TEST(HeapExperiments, ConclusionsFollowTheMeasurements) {
  ExperimentResult arena;
  addMeasured(arena, {{"heap", "free-1"}, {"phase", "malloc2"}}, 400);
  addMeasured(arena, {{"heap", "free-2"}, {"phase", "malloc2"}}, 0.5);
  addMeasured(arena, {{"heap", "free-1"}, {"phase", "free1"}}, 0.5);
  addMeasured(arena, {{"heap", "free-2"}, {"phase", "free1"}}, 5);
  addMeasured(arena, {{"heap", "lock-1"}, {"phase", "malloc+free"}}, 5);
  arenaExperiment.conclude(arena);
  ASSERT_EQ(arena.conclusions.size(), 3U);
  EXPECT_EQ(arena.conclusions[0].kind, Conclusion::Kind::yes);
  EXPECT_NEAR(arena.conclusions[0].ratio.value, 800, 1);
  EXPECT_EQ(arena.conclusions[1].kind, Conclusion::Kind::no);
  EXPECT_EQ(arena.conclusions[2].kind, Conclusion::Kind::notMeasured);

  ExperimentResult thresh;
  addMeasured(thresh, {{"heap", "coloring-0"}, {"threshold", "default"}}, 2);
  addMeasured(thresh, {{"heap", "coloring-1"}, {"threshold", "default"}}, 1);
  threshExperiment.conclude(thresh);
  ASSERT_EQ(thresh.conclusions.size(), 2U);
  EXPECT_EQ(thresh.conclusions[0].kind, Conclusion::Kind::yes);
  EXPECT_NE(thresh.conclusions[0].text.find("64 of 64 with COLORING=0, 0 with"),
            std::string::npos);
  EXPECT_EQ(thresh.conclusions[1].kind, Conclusion::Kind::yes);
}

TEST(HeapExperiments, WhatWasNotMeasuredIsToldOnlyIfItWasPlanned) {
  for (const Experiment *experiment : ours) {
    ExperimentResult result;
    experiment->conclude(result);
    EXPECT_TRUE(result.conclusions.empty());
    for (const PlannedPoint &planned :
         plan(*experiment, fakeNode(4096, 2), true, 8192 * mib)) {
      PointResult point;
      point.parameters = planned.parameters;
      point.missing = "the machine is on fire";
      result.points.push_back(std::move(point));
    }
    experiment->conclude(result);
    EXPECT_GE(result.conclusions.size(), 2U);
    for (const Conclusion &conclusion : result.conclusions) {
      EXPECT_EQ(conclusion.kind, Conclusion::Kind::notMeasured);
      EXPECT_NE(conclusion.text.find("is on fire"), std::string::npos)
          << conclusion.text;
    }
  }
}
