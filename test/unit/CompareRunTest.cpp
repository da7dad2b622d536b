// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run of a program as mpgrun --compare does it: what comes back of its end
// and its use of the machine, and that its memory can be interleaved.

#include "mpgrun/Compare/CompareRun.h"
#include "mpgrun/Compare/CompareOutput.h"
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// Runs a line of shell and keeps its output.
class CompareRun : public testing::Test {
protected:
  RunOutcome run(const std::string &line) {
    command.path = "/bin/sh";
    command.arguments = {"sh", "-c", line};
    return runHere();
  }
  RunOutcome runHere() {
    OwnedFd input = CompareInput().open();
    command.environment = {"PATH=/usr/bin:/bin"};
    command.input = input.get();
    command.output = output.get();
    command.messages = messages.get();
    SignalGate gate;
    return runOnce(command, gate);
  }

  RunCommand command;
  OwnedFd output = makeOutputFile(), messages = makeOutputFile();
};

} // namespace

TEST(CompareMemory, theFixIsEnoughForTheWholeProgram) {
  RunReport report;
  RegionUse bss, heap, map;
  bss.region = RunRegion::bss;
  bss.bytes = 64 << 20;
  heap.region = RunRegion::heap;
  heap.bytes = 36 << 20;
  heap.peakBytes = 40 << 20;
  heap.reason = "the pool is empty; fix: echo 7 > /x/nr_hugepages";
  map.region = RunRegion::mmap;
  map.bytes = 1 << 30; // not libmpg's
  bss.reason = "the pool is empty; fix: echo 31 > /x/nr_hugepages";
  report.regions = {bss, heap, map};
  ModeMemory memory;
  fillMemory(memory, report);
  EXPECT_EQ(memory.reason, "the pool is empty; fix: echo 54 > /x/nr_hugepages");
  report.regions = {heap};
  report.regions[0].reason = "the cgroup limit; fix: echo 7 to that file";
  fillMemory(memory, report);
  EXPECT_EQ(memory.reason, "the cgroup limit; fix: echo 7 to that file");
}

TEST_F(CompareRun, TellsHowItEnded) {
  RunOutcome outcome = run("echo words; echo more >&2; exit 7");
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(WEXITSTATUS(outcome.sample.waitStatus), 7);
  EXPECT_GT(outcome.sample.wallSeconds, 0);
  EXPECT_GT(outcome.sample.minorFaults, 0u);
  EXPECT_EQ(lastLines(output.get(), 1), "words");
  EXPECT_EQ(lastLines(messages.get(), 1), "more");
  EXPECT_EQ(WTERMSIG(run("kill -9 $$").sample.waitStatus), SIGKILL);
}

TEST_F(CompareRun, CountsChildren) {
  RunSample alone = run("true").sample;
  RunSample withChildren =
      run("for i in 1 2 3 4 5 6; do /bin/true; done").sample;
  EXPECT_GT(withChildren.minorFaults, alone.minorFaults + 6 * 20);
}

TEST_F(CompareRun, SeesProcessesThatAreLeft) {
  EXPECT_FALSE(run("true").leftProcesses);
  EXPECT_TRUE(run("sleep 3 &").leftProcesses);
}

TEST_F(CompareRun, LooksAtTheLastMoment) {
  pid_t seen = 0;
  auto inspect = [&](pid_t pid) {
    seen = access(("/proc/" + std::to_string(pid) + "/smaps").c_str(), R_OK)
               ? 0
               : pid;
  };
  command.atExit = inspect;
  EXPECT_EQ(WEXITSTATUS(run("kill -WINCH $$; exit 4").sample.waitStatus), 4);
  EXPECT_GT(seen, 0);
}

TEST_F(CompareRun, InterleavesMemory) {
  command.interleaveNodes = {0};
  RunOutcome outcome = run("exec grep -c interleave:0 /proc/self/numa_maps");
  if (!outcome.error.empty())
    GTEST_SKIP() << outcome.error; // containers forbid it
  if (access("/proc/self/numa_maps", R_OK) != 0)
    GTEST_SKIP() << "the kernel does not tell";
  EXPECT_EQ(outcome.sample.waitStatus, 0) << lastLines(messages.get(), 1);
}

TEST_F(CompareRun, SaysWhyItCannotStart) {
  command.path = "/no/such/program";
  command.arguments = {"x"};
  EXPECT_EQ(runHere().execError, ENOENT);
}
