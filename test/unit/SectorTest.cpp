// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions with ways of the sector cache, on an A64FX of numbers: what is
// written, what is put back, and what is refused.

#include "a64fx/Sector.h"
#include "FakeMachine.h"
#include "StderrLines.h"
#include "a64fx/A64fxRegisters.h"
#include "mpg/mpg.h"
#include <cerrno>
#include <functional>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace mpg;

namespace {

constexpr uint8_t keep = MPG_WAYS_KEEP;

constexpr mpg_ways onlyL1(uint8_t sector0, uint8_t sector1) {
  return {{sector0, sector1, keep, keep}, {keep, keep}};
}
constexpr mpg_ways onlyL2(uint8_t sector0, uint8_t sector1) {
  return {{keep, keep, keep, keep}, {sector0, sector1}};
}
constexpr mpg_ways both = {{3, 1, keep, keep}, {4, 10}};

class SectorTest : public FakeMachineTest {
protected:
  ~SectorTest() override { control.end(0); }
  /// The messages while \p settings apply.
  void start(const SectorSettings &settings) {
    control.start(settings, &messages);
  }
  Messages messages;
  SectorControl control{fakeMachine};
};

bool hasPart(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

// Arithmetic

TEST(SectorWaysTest, L1) {
  const struct {
    const char *what;
    uint8_t asked[4];
    uint64_t now, result;
  } cases[] = {
      {"as asked", {3, 1, keep, keep}, 0, 0x13},
      {"all four", {1, 1, 1, 1}, 0, 0x1111},
      {"sector 0 gets the rest", {keep, 1, keep, keep}, 0, 0x13},
      {"also when it has too many", {keep, 3, keep, keep}, 0x4, 0x31},
      {"also when too many are asked for", {4, 1, keep, keep}, 0, 0x13},
      {"clamped", {1, 9, keep, keep}, 0, 0},
      {"fewer than there are", {1, 1, keep, keep}, 0, 0x11},
      {"others are kept", {keep, 2, keep, keep}, 0x0112, 0x0121},
      {"one sector only: not divided", {4, 0, keep, keep}, 0x13, 0},
      {"all for sector 1: not divided", {0, 4, keep, keep}, 0x13, 0},
      {"nothing at all: not divided", {0, 0, 0, 0}, 0x13, 0},
      {"not all sectors are used", {2, 0, 2, 0}, 0, 0x0202},
      {"others take all: not divided", {1, 2, 2, 0}, 0x13, 0},
      {"nothing for sector 0: not divided", {0, 2, 1, 0}, 0x13, 0},
  };
  for (const auto &one : cases) {
    uint64_t out = 42;
    EXPECT_TRUE(resolveWaysL1(one.asked, one.now, out)) << one.what;
    EXPECT_EQ(out, one.result) << one.what;
  }
  for (uint8_t last : {1, 2, 4, 200}) { // one above, and more
    uint64_t out = 42;
    EXPECT_FALSE(resolveWaysL1({1, 2, 2, last}, 0x13, out));
    EXPECT_EQ(out, 0x13u);
  }
}

TEST(SectorWaysTest, L2) {
  const struct {
    const char *what;
    uint8_t asked[2];
    uint64_t now;
    unsigned budget;
    uint64_t result;
  } cases[] = {
      {"as asked", {4, 10}, 14, 14, 0xa04},
      {"sector 0 gets the rest", {keep, 10}, 14, 14, 0xa04},
      {"of 16", {keep, 10}, 16, 16, 0xa06},
      {"too many for sector 0", {9, 9}, 14, 14, 0x905},
      {"sector 0 may fill all", {MPG_WAYS_ALL, 1}, 14, 14, 0x10e},
      {"all for both: not divided", {MPG_WAYS_ALL, 0}, 0xa04, 14, 14},
      {"clamped", {3, 200}, 14, 14, 14},
      {"all for sector 1: not divided", {0, 14}, 14, 14, 14},
      {"none for sector 1: not divided", {14, 0}, 0xa04, 14, 14},
      {"none for sector 1 of 16", {16, 0}, 0xa04, 16, 16},
      {"kept", {keep, keep}, 0xa04, 14, 0xa04},
      {"sector 1 is kept", {3, keep}, 0xa04, 14, 0xa03},
  };
  for (const auto &one : cases) {
    uint64_t out = 42;
    EXPECT_TRUE(resolveWaysL2(one.asked, one.now, one.budget, out)) << one.what;
    EXPECT_EQ(out, one.result) << one.what;
  }
}

// For every request, no division has a sector without ways beside one with all,
// none bypasses the cache, and the kernel's bits stay unchanged.
TEST(SectorWaysTest, EveryRequestStaysWithinTheCache) {
  for (unsigned first = 0; first < 256; ++first)
    for (unsigned second = 0; second < 256; ++second) {
      uint64_t l1 = 0, l2 = 0;
      uint8_t one = uint8_t(first), two = uint8_t(second), ways[2];
      ASSERT_TRUE(resolveWaysL1({one, two, 0, 0}, 0, l1));
      ASSERT_TRUE(resolveWaysL2({one, two}, 14, 14, l2));
      unpackWaysL2(l2, ways);
      ASSERT_LE(ways[0], 14);
      if (one != MPG_WAYS_ALL) {
        ASSERT_LE((l1 & 7) + (l1 >> 4 & 7), 4u);
        ASSERT_LE(ways[0] + ways[1], 14);
      }
      ASSERT_GE(ways[0], 1);
      ASSERT_EQ(l1 & ~uint64_t(0x77), 0u);
    }
}

// Regions

TEST_F(SectorTest, ARegionSetsBothCachesAndPutsThemBack) {
  machine.at(Register::sectorL1, 0) = 0x22;
  EXPECT_EQ(control.begin(both), 0);
  EXPECT_EQ(machine.l1(0), 0x13u);
  EXPECT_EQ(machine.l2(0), 0xa04u);
  EXPECT_EQ(machine.l1(1), 0u);   // another CPU
  EXPECT_EQ(machine.l2(12), 14u); // another group
  control.end(0);
  EXPECT_EQ(machine.l1(0), 0x22u);
  EXPECT_EQ(machine.l2(0), 14u);
}

TEST_F(SectorTest, WhatIsKeptIsNotWritten) {
  EXPECT_EQ(control.begin({{keep, keep, keep, keep}, {keep, keep}}), 0);
  EXPECT_EQ(control.begin(onlyL1(2, 2)), 1);
  EXPECT_EQ(machine.l2(0), 14u);
  EXPECT_EQ(machine.writes, 1u);
  control.end(0);
  EXPECT_EQ(machine.writes, 2u);
}

TEST_F(SectorTest, RegionsInsideEachOther) {
  EXPECT_EQ(control.begin(onlyL2(4, 10)), 0);
  EXPECT_EQ(control.begin({{3, 1, keep, keep}, {keep, 5}}), 1);
  EXPECT_EQ(machine.l2(0), 0x504u);
  EXPECT_EQ(control.begin(onlyL1(1, 3)), 2);
  EXPECT_EQ(machine.l1(0), 0x31u);
  control.end(2);
  EXPECT_EQ(machine.l1(0), 0x13u);
  EXPECT_EQ(machine.l2(0), 0x504u);
  control.end(1);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(machine.l2(0), 0xa04u);
  control.end(0);
  EXPECT_EQ(machine.l2(0), 14u);
}

TEST_F(SectorTest, TheEndOfAnOuterRegionEndsTheInnerOnes) {
  EXPECT_EQ(control.begin(both), 0);
  EXPECT_EQ(control.begin(onlyL2(12, 2)), 1);
  EXPECT_EQ(control.begin(onlyL1(1, 3)), 2);
  control.end(0);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(machine.l2(0), 14u);
  unsigned writes = machine.writes;
  for (int token : {2, 1, 0, -1, -13, 1000}) // ended, or never a token
    control.end(token);
  EXPECT_EQ(machine.writes, writes);
  EXPECT_EQ(control.begin(both), 0);
}

// A thread of a team that is deeper or less deep than the first one.
TEST_F(SectorTest, ARegionAtADepthThatIsGiven) {
  EXPECT_EQ(control.beginAt(2, onlyL1(3, 1)), 2);
  EXPECT_EQ(control.begin(onlyL1(2, 2)), 3);
  EXPECT_EQ(control.beginAt(1, onlyL1(1, 3)), 1);
  EXPECT_EQ(machine.l1(0), 0x31u);
  control.end(1);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(control.begin(onlyL1(3, 1)), 1);
}

TEST_F(SectorTest, TooDeepIsRefusedAndChangesNothing) {
  for (int depth = 0; depth < SectorControl::maxDepth; ++depth)
    EXPECT_EQ(control.begin(onlyL1(2, 2)), depth);
  EXPECT_EQ(control.begin(onlyL1(3, 1)), -EOVERFLOW);
  EXPECT_EQ(machine.l1(0), 0x22u);
  EXPECT_STREQ(mpg_machine_error(), "too many regions inside each other");
  control.end(0);
  EXPECT_EQ(machine.l1(0), 0u);
}

TEST_F(SectorTest, MoreWaysThanThereAreAreRefused) {
  EXPECT_EQ(control.begin({{1, 3, 3, 1}, {4, 10}}), -EINVAL);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(machine.l2(0), 14u);
  EXPECT_EQ(control.begin(both), 0); // no region was left behind
}

// Threads

TEST_F(SectorTest, L1IsEachThreadsOwn) {
  EXPECT_EQ(control.begin(onlyL1(3, 1)), 0);
  std::thread([&] {
    FakeMachine::goTo(1);
    EXPECT_EQ(control.begin(onlyL1(1, 3)), 0);
    EXPECT_EQ(machine.l1(1), 0x31u);
    control.end(0);
  }).join();
  EXPECT_EQ(machine.l1(0), 0x13u);
  EXPECT_EQ(machine.l1(1), 0u);
}

// Each thread of a group is in a region of the same code; they leave in any
// order, and the one that came first is not the one that leaves last.
TEST_F(SectorTest, L2ComesBackWithTheLastThreadOfTheGroup) {
  EXPECT_EQ(control.begin(onlyL2(4, 10)), 0);
  std::thread([&] {
    FakeMachine::goTo(1);
    EXPECT_EQ(control.begin(onlyL2(4, 10)), 0);
    std::thread([&] {
      FakeMachine::goTo(13); // of the next group
      EXPECT_EQ(control.begin(onlyL2(12, 2)), 0);
      EXPECT_EQ(machine.l2(13), 0x20cu);
      control.end(0);
      EXPECT_EQ(machine.l2(13), 14u);
    }).join();
    FakeMachine::goTo(0);
    FakeMachine::goTo(1);
    control.end(0);
    EXPECT_EQ(machine.l2(1), 0xa04u);
  }).join();
  control.end(0);
  EXPECT_EQ(machine.l2(0), 14u);
}

TEST_F(SectorTest, ManyThreadsLeaveTheMachineAsItWas) {
  std::vector<std::thread> threads;
  for (unsigned cpu = 0; cpu < 48; ++cpu)
    threads.emplace_back([&, cpu] {
      FakeMachine::goTo(cpu);
      for (unsigned turn = 0; turn < 200; ++turn) {
        int outer = control.begin(both);
        EXPECT_EQ(outer, 0);
        control.begin(onlyL2(keep, uint8_t(1 + turn % 13)));
        if (turn % 2)
          control.end(1);
        EXPECT_EQ(machine.l1(cpu), 0x13u);
        control.end(outer);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (unsigned cpu = 0; cpu < 48; ++cpu) {
    EXPECT_EQ(machine.l1(cpu), 0u);
    EXPECT_EQ(machine.l2(cpu), 14u);
  }
}

TEST_F(SectorTest, AThreadThatWasMovedTouchesNoOtherCpu) {
  EXPECT_EQ(control.begin(both), 0);
  FakeMachine::goTo(20);
  machine.at(Register::sectorL1, 20) = 0x31;
  machine.at(Register::sectorL2, 20) = 0x509;
  control.end(0);
  EXPECT_EQ(machine.l1(20), 0x31u);
  EXPECT_EQ(machine.l2(20), 0x509u);
}

// Calls that fail

TEST_F(SectorTest, WhatIsMissingIsToldOnce) {
  const struct {
    Reach reach;
    int error;
    const char *text;
  } cases[] = {{Reach::absent, -ENODEV, "not an A64FX"},
               {Reach::closed, -EACCES, "el0ae of IMP_SCCR_CTRL_EL1"}};
  for (const auto &one : cases) {
    Messages fresh;
    for (Reach &reach : machine.reach)
      reach = one.reach;
    StderrLines lines;
    control.start({}, &fresh);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(control.begin(both), one.error);
    std::vector<std::string> said = lines.drain();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(hasPart(said[0], one.text)) << said[0];
    EXPECT_TRUE(hasPart(said[0], "mpg: sector cache: ")) << said[0];
    EXPECT_TRUE(hasPart(mpg_machine_error(), one.text));
  }
  EXPECT_EQ(machine.writes, 0u);
}

TEST_F(SectorTest, AThreadThatIsNotBoundHasNoL1) {
  start({});
  FakeMachine::place.staysOnCpu = false;
  StderrLines lines;
  EXPECT_EQ(control.begin(onlyL1(3, 1)), -EXDEV);
  EXPECT_TRUE(hasPart(mpg_machine_error(), "not bound to one CPU"));
  EXPECT_EQ(control.begin(both), 0); // the group's cache all the same
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(machine.l2(0), 0xa04u);
  control.end(0);
  std::vector<std::string> said = lines.drain();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(hasPart(said[0], "OMP_PROC_BIND")) << said[0];
  FakeMachine::place.staysOnNode = false;
  EXPECT_EQ(control.begin(onlyL2(4, 10)), -EXDEV);
  EXPECT_EQ(control.begin(both), -EXDEV);
  EXPECT_EQ(machine.l2(0), 14u);
}

TEST_F(SectorTest, AGroupThatIsSharedIsNotDivided) {
  start({});
  machine.isAlone = false;
  StderrLines lines;
  EXPECT_EQ(control.begin(onlyL2(4, 10)), -EBUSY);
  EXPECT_TRUE(hasPart(mpg_machine_error(), "for itself"));
  EXPECT_EQ(control.begin(both), 0); // L1 alone
  EXPECT_EQ(machine.l1(0), 0x13u);
  control.end(0);
  SectorSettings strict;
  strict.l1WithoutL2 = false; // FLIB_L1_SCCR_CNTL=FALSE
  start(strict);
  EXPECT_EQ(control.begin(both), -EBUSY);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(control.begin(onlyL1(3, 1)), 0);
  control.end(0);
  EXPECT_EQ(machine.l2(0), 14u);
  EXPECT_EQ(lines.drain().size(), 1u);
}

TEST_F(SectorTest, L2ThatIsClosedLeavesL1) {
  machine.reach[size_t(Family::sectorL2)] = Reach::closed;
  EXPECT_EQ(control.begin(onlyL2(4, 10)), -EACCES);
  EXPECT_EQ(control.begin(both), 0);
  EXPECT_EQ(machine.l1(0), 0x13u);
}

TEST_F(SectorTest, SwitchedOffByTheUserNothingIsSaid) {
  SectorSettings off;
  off.on = false; // FLIB_SCCR_CNTL=FALSE
  off.initialL2Given = true;
  start(off);
  StderrLines lines;
  EXPECT_EQ(control.begin(both), -ECANCELED);
  control.writeInitialWays();
  EXPECT_TRUE(lines.drain().empty());
  EXPECT_EQ(machine.writes, 0u);
}

// Forked children

namespace {

/// What \p work returns in a forked child; 128 and the signal if that ended it.
int inChild(const std::function<int()> &work) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60); // a lock of a thread that is not there
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

TEST_F(SectorTest, AChildMayTakeALockOfItsParents) {
  static std::promise<void> isInside, mayGo;
  static std::atomic<bool> waits{true};
  Machine machineThatWaits = fakeMachine;
  machineThatWaits.read = [](Register which) {
    if (waits.exchange(false)) {
      isInside.set_value();
      mayGo.get_future().wait();
    }
    return fakeRead(which);
  };
  SectorControl other{machineThatWaits};
  std::thread thread([&] { other.end(other.begin(onlyL2(4, 10))); });
  isInside.get_future().wait();
  EXPECT_EQ(inChild([&] { return other.begin(onlyL2(3, 11)); }), 0);
  mayGo.set_value();
  thread.join();
}

TEST_F(SectorTest, AChildCountsItsOwnRegionsAlone) {
  std::promise<void> isInside, mayGo;
  EXPECT_EQ(control.begin(onlyL2(5, 9)), 0);
  std::thread thread([&] {
    int token = control.begin(onlyL2(4, 10));
    isInside.set_value();
    mayGo.get_future().wait();
    control.end(token);
  });
  isInside.get_future().wait();
  EXPECT_EQ(machine.l2(0), 0xa04u);
  EXPECT_EQ(inChild([&] {
              control.end(0);
              return machine.l2(0) == 14 ? 0 : 1;
            }),
            0);
  mayGo.set_value();
  thread.join();
}

// FLIB_L2_SECTOR_NWAYS_INIT

TEST_F(SectorTest, InitialWaysAreOnAllGroupsAndStay) {
  SectorSettings settings;
  settings.initialL2Given = true;
  settings.initialL2[0] = 9;
  settings.initialL2[1] = 5;
  start(settings);
  control.writeInitialWays();
  for (unsigned cpu = 0; cpu < 48; cpu += 12)
    EXPECT_EQ(machine.l2(cpu), 0x509u);
  EXPECT_EQ(control.begin(onlyL2(4, 10)), 0);
  control.end(0);
  EXPECT_EQ(machine.l2(0), 0x509u);
}

TEST_F(SectorTest, WithoutInitialWaysNothingIsWritten) {
  start({});
  control.writeInitialWays();
  EXPECT_EQ(machine.writes, 0u);
}

TEST_F(SectorTest, InitialWaysThatCannotBeSetAreTold) {
  SectorSettings settings;
  settings.initialL2Given = true;
  machine.isAlone = false;
  start(settings);
  StderrLines lines;
  control.writeInitialWays();
  std::vector<std::string> said = lines.drain();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(hasPart(said[0], "FLIB_L2_SECTOR_NWAYS_INIT has no effect"));
  EXPECT_EQ(machine.writes, 0u);
}
