// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which process may divide an L2 cache that it shares with others: the rules,
// on the layouts of CPUs and groups that there are.

#include "a64fx/A64fxRegisters.h"
#include "base/SelfMaps.h"
#include "numa/NodeCpus.h"
#include <gtest/gtest.h>
#include <string>

using namespace mpg;

static cpu_set_t getCpus(const char *list) {
  cpu_set_t cpus;
  EXPECT_TRUE(parseCpuList(list, cpus)) << list;
  return cpus;
}

/// FX1000: system CPUs on nodes 0 to 3, the job's on 4 to 7.
static CoreGroups largeMachine() {
  CoreGroups groups = {};
  const char *lists[] = {"0-2",   "3-5",   "6-8",   "9-11",
                         "12-23", "24-35", "36-47", "48-59"};
  for (unsigned node = 0; node < 8; ++node)
    groups.cpus[node] = getCpus(lists[node]);
  groups.possibleCpus = 60;
  return groups;
}

TEST(CoreGroupsTest, ListsOfCpus) {
  const struct {
    const char *text;
    int count;
  } right[] = {{"", 0},           {"\n", 0},    {"0", 1},
               {"0-3\n", 4},      {"0,2,4", 3}, {"12-23,36-47\n", 24},
               {"0-1023\n", 1024}};
  for (const auto &one : right) {
    cpu_set_t cpus;
    EXPECT_TRUE(parseCpuList(one.text, cpus)) << one.text;
    EXPECT_EQ(CPU_COUNT(&cpus), one.count) << one.text;
  }
  cpu_set_t some = getCpus("3,5-6");
  EXPECT_TRUE(CPU_ISSET(3, &some) && CPU_ISSET(5, &some) &&
              CPU_ISSET(6, &some));
  for (const char *text :
       {"x", "-1", "3-", "3-2", "1024", "0-1024", "1,", "1;2", "1 2", ",1",
        "1-2-3", "99999999999999999999"}) {
    cpu_set_t cpus;
    EXPECT_FALSE(parseCpuList(text, cpus)) << text;
  }
}

TEST(CoreGroupsTest, NodeOfCpus) {
  CoreGroups groups = largeMachine();
  EXPECT_EQ(getNode(groups, getCpus("12-23")), 4);
  EXPECT_EQ(getNode(groups, getCpus("59")), 7);
  EXPECT_EQ(getNode(groups, getCpus("23,24")), -1);
  EXPECT_EQ(getNode(groups, getCpus("100")), -1);
  EXPECT_EQ(getNode(groups, getCpus("")), -1);
}

TEST(CoreGroupsTest, WhoHasGroupsForItself) {
  CoreGroups groups = largeMachine();
  const struct {
    const char *what, *mine;
    unsigned jobNodes, processes;
    bool isAlone;
  } cases[] = {
      {"one process on the node", "12-59", 4, 1, true},
      {"a process for each group", "12-23", 4, 4, true},
      {"on another group", "48-59", 4, 4, true},
      {"two groups each", "12-35", 4, 2, true},
      {"half of a group", "12-17", 4, 8, false},
      {"half of a group, launcher silent", "12-17", 4, 1, false},
      {"one CPU", "12", 4, 1, false},
      {"a group and a half", "12-29", 4, 1, false},
      {"two processes on each group", "12-23", 4, 8, false},
      {"not bound, with others", "12-59", 4, 4, false},
      {"three of two groups each", "12-35", 4, 3, false},
      {"nowhere", "", 4, 1, false},
  };
  for (const auto &one : cases)
    EXPECT_EQ(
        hasGroupsAlone(groups, getCpus(one.mine), one.jobNodes, one.processes),
        one.isAlone)
        << one.what;
}

TEST(CoreGroupsTest, WaysThatCanBeDivided) {
  EXPECT_EQ(budgetOfL2(60, 14), 14u);
  EXPECT_EQ(budgetOfL2(52, 0), 14u);
  EXPECT_EQ(budgetOfL2(0, 0), 14u);   // not known
  EXPECT_EQ(budgetOfL2(48, 14), 14u); // the register says so
  EXPECT_EQ(budgetOfL2(48, 0), 16u);
  EXPECT_EQ(budgetOfL2(48, 16), 16u);
}

TEST(CoreGroupsTest, ProcessesOfAJob) {
  const struct {
    const char *first, *second;
    unsigned count;
  } cases[] = {
      {nullptr, nullptr, 1},
      {"OMPI_COMM_WORLD_LOCAL_SIZE=4", nullptr, 4},
      {"MPI_LOCALNRANKS=2", "MPI_LOCALRANKID=1", 2},
      {"PLE_RANK_ON_NODE=0", nullptr, 1}, // the first does not know
      {"PLE_RANK_ON_NODE=3", nullptr, 4},
      {"OMPI_COMM_WORLD_LOCAL_SIZE=many", nullptr, 1},
      {"OMPI_COMM_WORLD_LOCAL_SIZE=0", nullptr, 1},
      {"SLURM_NTASKS_PER_NODE=99999999999", nullptr, 1},
      {"PATH=4", "LOCAL_SIZE=4", 1},
  };
  for (const auto &one : cases) {
    const char *environment[] = {one.first, one.second, nullptr};
    EXPECT_EQ(processesOfJob(environment), one.count)
        << (one.first ? one.first : "");
  }
}

TEST(CoreGroupsTest, ThisComputerCanBeRead) {
  CoreGroups groups;
  readCoreGroups(groups);
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
  EXPECT_GE(int(groups.possibleCpus), CPU_COUNT(&mine));
}
