// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Load of the machine out of texts as the kernel writes them, whole and
// damaged, and the time that a test burns itself.

#include "Measure/MachineLoad.h"
#include <ctime>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static const char loadavg[] = "0.75 0.60 0.83 1/96 8979\n";

TEST(MachineLoad, ReadsWhatTheKernelWrites) {
  std::optional<LoadSample> load =
      parseLoad("cpu  5289564 353350 1956961 3019401 33975 11 7855 26576 5 0\n"
                "cpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\nctxt 2\n",
                loadavg);
  ASSERT_TRUE(load);
  EXPECT_EQ(load->busyTicks, 5289564u + 353350 + 1956961 + 11 + 7855);
  EXPECT_EQ(load->idleTicks, 3019401u + 33975);
  EXPECT_EQ(load->stealTicks, 26576u);
  EXPECT_EQ(load->loadAverage, 0.75);
}

TEST(MachineLoad, OldKernelsHaveFewerColumns) {
  std::optional<LoadSample> load = parseLoad("cpu  10 20 30 40\n", "0.00");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->busyTicks, 60u);
  EXPECT_EQ(load->idleTicks, 40u);
  EXPECT_EQ(load->stealTicks, 0u);
}

TEST(MachineLoad, WhatMakesNoSenseIsNothing) {
  for (const char *stat :
       {"", "\n", "cpu", "cpu ", "cpu  1 2 3", "cpu0 1 2 3 4 5 6 7 8",
        "cpu  1 2 x 4 5 6 7 8", "cpu  1 2 -3 4 5 6 7 8", "intr 1 2 3 4 5 6",
        "cpu  1 2 99999999999999999999999 4 5 6 7 8",
        "cpu  1 2 18446744073709551615 4 5 6 7 8", "cpu\t1 2 3 4"})
    EXPECT_FALSE(parseLoad(stat, loadavg)) << stat;
  for (const char *average : {"", "x", "-1 0 0", "nan", "inf", "\n0.5"})
    EXPECT_FALSE(parseLoad("cpu  1 2 3 4 5 6 7 8", average)) << average;
}

/// \p busy, \p steal in ticks, \p own and \p wall in seconds.
static LoadSample getSample(uint64_t busy, uint64_t steal, double own,
                            double wall) {
  LoadSample sample;
  sample.busyTicks = busy;
  sample.stealTicks = steal;
  sample.ownSeconds = own;
  sample.wallSeconds = wall;
  return sample;
}

TEST(MachineLoad, OwnTimeIsNotTheOthers) {
  uint64_t second = uint64_t(sysconf(_SC_CLK_TCK));
  LoadSample before = getSample(1000, 50, 7, 100);
  LoadBetween load =
      loadBetween(before, getSample(1000 + 20 * second, 50, 27, 110));
  EXPECT_EQ(load.seconds, 10);
  EXPECT_NEAR(load.othersCpus, 0, 1e-9);
  EXPECT_FALSE(load.isBusy());
  load = loadBetween(before, getSample(1000 + 20 * second, 50, 14, 110));
  EXPECT_NEAR(load.othersCpus, 1.3, 1e-9);
  EXPECT_TRUE(load.isBusy());
  EXPECT_EQ(load.describe(), "other processes used 1.30 CPUs, steal 0.00");
}

TEST(MachineLoad, StealIsBusy) {
  uint64_t second = uint64_t(sysconf(_SC_CLK_TCK));
  LoadBetween load =
      loadBetween(getSample(0, 0, 0, 0), getSample(0, second, 0, 10));
  EXPECT_NEAR(load.stealCpus, 0.1, 1e-9);
  EXPECT_TRUE(load.isBusy());
}

TEST(MachineLoad, ClocksThatStandOrGoBack) {
  LoadSample before = getSample(1000, 50, 7, 100);
  LoadBetween load = loadBetween(before, getSample(2000, 99, 7, 100));
  EXPECT_EQ(load.seconds, 0);
  EXPECT_FALSE(load.isBusy());
  load = loadBetween(before, getSample(990, 40, 8, 110));
  EXPECT_FALSE(load.isBusy());
  EXPECT_EQ(load.describe(), "other processes used 0.00 CPUs, steal 0.00");
}

/// CPU time of this process and its child does not count as other load.
TEST(MachineLoad, OfThisMachine) {
  std::optional<LoadSample> before = readLoad();
  if (!before)
    GTEST_SKIP() << "/proc/stat cannot be read";
  auto burn = [] {
    while (clock() < CLOCKS_PER_SEC / 5)
      ;
  };
  pid_t child = fork();
  if (child == 0) {
    burn();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  std::optional<LoadSample> after = readLoad();
  ASSERT_TRUE(after);
  EXPECT_GE(after->ownSeconds - before->ownSeconds, 0.15);
  EXPECT_GT(after->wallSeconds, before->wallSeconds);
  EXPECT_GE(after->busyTicks, before->busyTicks);
}
