// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpg_barrier_*: no thread leaves before all have arrived, in memory and
// through a device of this test, and which of the two is used.

#include "a64fx/Barrier.h"
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mpg;

namespace {

/// The device's abilities, and the calls it received.
struct FakeDevice {
  bool exists = true;
  bool allocates = true;
  int cpuWithoutWindow = -1;
  bool isBound = true;
  bool shareCpu = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> cpus, assigned;
  unsigned arrived = 0, rounds = 0, allocations = 0, releases = 0;
  std::atomic<unsigned> syncs{0};
};

FakeDevice *device;
thread_local int cpuOfThread;

int fakeAssign(const Blade &blade) {
  EXPECT_EQ(blade.group, 2);
  EXPECT_EQ(blade.number, 5);
  if (cpuOfThread == device->cpuWithoutWindow)
    return -1;
  std::lock_guard<std::mutex> held(device->mutex);
  EXPECT_TRUE(device->assigned.insert(cpuOfThread).second);
  return cpuOfThread % 4;
}

bool fakeAllocate(const cpu_set_t &cpus, Blade &blade) {
  ++device->allocations;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus))
      device->cpus.insert(cpu);
  blade = {2, 5};
  return device->allocates;
}

void fakeSync(int window) {
  EXPECT_EQ(window, cpuOfThread % 4);
  ++device->syncs;
  std::unique_lock<std::mutex> held(device->mutex);
  unsigned mine = device->rounds;
  if (++device->arrived == device->cpus.size()) {
    device->arrived = 0;
    ++device->rounds;
    device->changed.notify_all();
    return;
  }
  device->changed.wait(held, [&] { return device->rounds != mine; });
}

int fakeBoundCpu() {
  if (!device->isBound)
    return -1;
  return device->shareCpu ? 3 : cpuOfThread;
}

constexpr BarrierDevice fakeDevice = {
    [] { return device->exists; },
    fakeBoundCpu,
    fakeAllocate,
    fakeAssign,
    fakeSync,
    [](const Blade &) { ++device->releases; }};

class BarrierTest : public testing::Test {
protected:
  BarrierTest() { device = &fake; }

  /// Has \p threads threads wait \p rounds times; each looks each time whether
  /// all have come as far as itself.
  std::string use(unsigned threads, unsigned rounds) {
    mpg_barrier *barrier = nullptr;
    EXPECT_EQ(makeBarrier(fakeDevice, &barrier, threads), 0);
    std::vector<unsigned> came(threads); // plain: the barrier orders them
    std::vector<std::thread> team;
    std::atomic<unsigned> early{0};
    for (unsigned thread = 0; thread < threads; ++thread)
      team.emplace_back([&, thread] {
        cpuOfThread = int(thread) + 12;
        for (unsigned round = 1; round <= rounds; ++round) {
          came[thread] = round;
          EXPECT_EQ(mpg_barrier_wait(barrier, thread), 0);
          for (unsigned other : came)
            early += other != round;
          EXPECT_EQ(mpg_barrier_wait(barrier, thread), 0);
        }
      });
    for (std::thread &thread : team)
      thread.join();
    EXPECT_EQ(early, 0u);
    std::string kind = mpg_barrier_kind(barrier);
    mpg_barrier_destroy(barrier);
    return kind;
  }
  FakeDevice fake;
};

} // namespace

TEST_F(BarrierTest, WithoutADriverItIsInMemory) {
  fake.exists = false;
  EXPECT_EQ(use(5, 2000), "software: there is no driver, /dev/fujitsu_hwb");
  EXPECT_EQ(fake.allocations, 0u);
}

// Far more threads than CPUs: they sleep.
TEST_F(BarrierTest, ManyThreads) {
  fake.exists = false;
  use(64, 50);
}

TEST_F(BarrierTest, OneThread) {
  EXPECT_EQ(use(1, 1000), "software: one thread");
  EXPECT_EQ(fake.allocations, 0u);
}

TEST_F(BarrierTest, BoundThreadsGetTheHardwares) {
  EXPECT_EQ(use(12, 100), "hardware");
  EXPECT_EQ(fake.cpus.size(), 12u);
  EXPECT_EQ(*fake.cpus.begin(), 12);
  EXPECT_EQ(fake.assigned, fake.cpus);
  EXPECT_EQ(fake.allocations, 1u);
  EXPECT_EQ(fake.releases, 1u);
  EXPECT_EQ(fake.syncs, 12u * (200 - 1)); // all but the first wait
}

TEST_F(BarrierTest, ThreadsThatAreNotBound) {
  fake.isBound = false;
  EXPECT_EQ(use(4, 100), "software: the threads are not bound to a CPU each");
  EXPECT_EQ(fake.allocations, 0u);
  EXPECT_EQ(fake.releases, 0u);
}

TEST_F(BarrierTest, ThreadsOnTheSameCpu) {
  fake.shareCpu = true;
  EXPECT_EQ(use(4, 100), "software: the threads are not bound to a CPU each");
}

TEST_F(BarrierTest, TheDriverRefuses) {
  fake.allocates = false;
  EXPECT_EQ(use(4, 100),
            "software: the driver refuses: no barrier is free, or the threads "
            "are on several core memory groups");
  EXPECT_EQ(fake.releases, 0u);
  EXPECT_EQ(fake.syncs, 0u);
}

// One thread without a window would wait in another barrier than the rest.
TEST_F(BarrierTest, OneWindowIsMissing) {
  for (int cpu : {12, 14, 15}) {
    fake.cpuWithoutWindow = cpu;
    fake.assigned.clear();
    EXPECT_EQ(use(4, 100), "software: the driver has no window left on a CPU");
  }
  EXPECT_EQ(fake.allocations, 3u);
  EXPECT_EQ(fake.releases, 3u);
  EXPECT_EQ(fake.syncs, 0u);
}

// By the open file of its parent a forked child would free what that waits
// with.
TEST_F(BarrierTest, AChildLeavesItsParentsBarrier) {
  mpg_barrier *barrier = nullptr;
  ASSERT_EQ(makeBarrier(fakeDevice, &barrier, 4), 0);
  std::vector<std::thread> team;
  for (unsigned thread = 0; thread < 4; ++thread)
    team.emplace_back([barrier, thread] {
      cpuOfThread = int(thread) + 12;
      mpg_barrier_wait(barrier, thread);
    });
  for (std::thread &thread : team)
    thread.join();
  ASSERT_STREQ(mpg_barrier_kind(barrier), "hardware");
  pid_t child = fork();
  if (child == 0) {
    mpg_barrier_destroy(barrier);
    _exit(int(fake.releases));
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  mpg_barrier_destroy(barrier);
  EXPECT_EQ(fake.releases, 1u);
}

TEST_F(BarrierTest, WhatIsWrongIsRefused) {
  mpg_barrier *barrier = nullptr;
  EXPECT_EQ(makeBarrier(fakeDevice, &barrier, 0), -EINVAL);
  EXPECT_EQ(makeBarrier(fakeDevice, &barrier, 65537), -EINVAL);
  EXPECT_EQ(barrier, nullptr);
  ASSERT_EQ(makeBarrier(fakeDevice, &barrier, 2), 0);
  EXPECT_STREQ(mpg_barrier_kind(barrier), "undecided");
  EXPECT_EQ(mpg_barrier_wait(barrier, 2), -EINVAL);
  mpg_barrier_destroy(barrier);
  mpg_barrier_destroy(nullptr);
}
