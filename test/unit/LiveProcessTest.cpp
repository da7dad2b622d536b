// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running processes as /proc shows them: this one, its children, and unused
// numbers.

#include "Process/LiveProcess.h"
#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static std::string readError(int pid) {
  Expected<LiveProcess> process = readProcess(pid);
  return process ? "" : toString(process.takeError());
}

/// A child with this environment that waits until it is killed.
static pid_t startSleep(const std::vector<const char *> &environment,
                        rlim_t stackBytes) {
  int ready[2];
  if (pipe(ready) != 0)
    return -1;
  pid_t child = fork();
  if (child == 0) {
    rlimit limit = {stackBytes, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &limit);
    std::vector<char *> variables;
    for (const char *entry : environment)
      variables.push_back(const_cast<char *>(entry));
    variables.push_back(nullptr);
    // The shell prints when it runs; its environment can be read from then on.
    dup2(ready[1], 1);
    const char *words[] = {"sh", "-c", "echo; kill -STOP $$", nullptr};
    execve("/bin/sh", const_cast<char **>(words), variables.data());
    _exit(1);
  }
  char byte;
  close(ready[1]);
  (void)!read(ready[0], &byte, 1);
  close(ready[0]);
  return child;
}

static void stop(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(LiveProcess, EnvironmentAndLimitsAreThoseOfTheProcess) {
  pid_t child = startSleep(
      {"OMP_NUM_THREADS=12,2", "LD_PRELOAD=", "EMPTY=", "TWICE=first",
       "TWICE=second", "rubbish", "OMPI_COMM_WORLD_LOCAL_SIZE=4"},
      3 << 20);
  Expected<LiveProcess> process = readProcess(child);
  stop(child);
  ASSERT_TRUE(bool(process)) << toString(process.takeError());
  const Launch &launch = process->launch;
  EXPECT_EQ(launch.threads, 12u);
  EXPECT_EQ(launch.ranksPerNode, 4u);
  EXPECT_EQ(launch.stackBytes, uint64_t(3 << 20));
  EXPECT_EQ(launch.environment.getValue("TWICE"), "first");
  EXPECT_TRUE(launch.environment.find("EMPTY"));
  EXPECT_FALSE(launch.environment.find("rubbish"));
  EXPECT_FALSE(process->isReplaced);
  EXPECT_EQ(process->program, process->shownPath);
}

TEST(LiveProcess, RegionsAreNamedOnceAndHoldNoMoreThanIsMapped) {
  Expected<LiveProcess> process = readProcess(getpid());
  ASSERT_TRUE(bool(process)) << toString(process.takeError());
  std::vector<std::string> names;
  for (const RegionUse &region : process->regions) {
    names.push_back(regionName(region.region).str());
    EXPECT_LE(region.hugeBytes, region.bytes) << names.back();
    EXPECT_LE(region.bytes + region.setAsideBytes, region.mappedBytes)
        << names.back();
  }
  for (const char *name : {"text", "data", "bss", "stack"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
}

TEST(LiveProcess, WhatIsNoProcessHasAReason) {
  EXPECT_NE(readError(0).find("begin with 1"), std::string::npos);
  EXPECT_NE(readError(-7).find("begin with 1"), std::string::npos);
  EXPECT_NE(readError(INT32_MAX).find("no such process"), std::string::npos);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_NE(readError(child).find("zombie"), std::string::npos);
  waitpid(child, nullptr, 0);
  EXPECT_NE(readError(child).find("no such process"), std::string::npos);
}
