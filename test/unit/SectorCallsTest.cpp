// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For which threads mpg_sector_begin works: the team of an OpenMP program, here
// one of this test's own, or the calling thread alone.

#include "FakeMachine.h"
#include "a64fx/Sector.h"
#include "numa/Places.h"
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

using namespace mpg;

// The library's own functions on the machine of numbers.
const Machine mpg::thisMachine = fakeMachine;

static thread_local int threadNumber = 0;
static thread_local bool isInParallel = false;

namespace {

/// Threads that live on from one parallel region to the next, as OpenMP's do.
class Team {
public:
  static constexpr unsigned size = 4;
  unsigned regions = 0; ///< that were asked for

  void run(void (*toDo)(void *), void *with) {
    if (threads.empty())
      for (unsigned number = 1; number < size; ++number)
        threads.emplace_back(&Team::work, this, number);
    std::unique_lock<std::mutex> held(mutex);
    body = toDo;
    data = with;
    busy = size - 1;
    ++regions;
    changed.notify_all();
    held.unlock();
    isInParallel = true;
    toDo(with);
    isInParallel = false;
    held.lock();
    changed.wait(held, [&] { return busy == 0; });
  }
  ~Team() {
    std::unique_lock<std::mutex> held(mutex);
    body = nullptr;
    ++regions;
    changed.notify_all();
    held.unlock();
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  void work(unsigned number) {
    threadNumber = int(number);
    isInParallel = true;
    FakeMachine::goTo(number * 11); // over several groups
    for (unsigned seen = 0;;) {
      std::unique_lock<std::mutex> held(mutex);
      changed.wait(held, [&] { return regions > seen; });
      seen = regions;
      if (!body)
        return;
      held.unlock();
      body(data);
      held.lock();
      if (--busy == 0)
        changed.notify_all();
    }
  }

  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable changed;
  void (*body)(void *) = nullptr;
  void *data = nullptr;
  unsigned busy = 0;
};

Team team;

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are OpenMP's.
void GOMP_parallel(void (*body)(void *), void *data, unsigned, unsigned) {
  team.run(body, data);
}
int omp_get_thread_num() { return threadNumber; }
int omp_get_num_threads() { return int(Team::size); }
int omp_in_parallel() { return isInParallel; }
// NOLINTEND(readability-identifier-naming)

namespace {

class SectorCallsTest : public FakeMachineTest {
protected:
  SectorCallsTest() {
    before = team.regions;
    startSectors({}, nullptr);
  }
  unsigned regions() const { return team.regions - before; }

private:
  unsigned before;
};

constexpr mpg_ways ways = {{3, 1, MPG_WAYS_KEEP, MPG_WAYS_KEEP}, {4, 10}};

} // namespace

TEST_F(SectorCallsTest, TheFirstThreadDoesItForItsTeam) {
  errno = 77;
  int token = mpg_sector_begin(&ways);
  EXPECT_EQ(token, 0);
  for (unsigned cpu : {0, 11, 22, 33}) {
    EXPECT_EQ(machine.l1(cpu), 0x13u) << cpu;
    EXPECT_EQ(machine.l2(cpu), 0xa04u) << cpu;
  }
  EXPECT_EQ(machine.writes, 8u); // each thread once
  EXPECT_EQ(machine.l1(12), 0u);
  EXPECT_EQ(machine.l2(36), 14u); // nobody of the team is there
  mpg_sector_end(token);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(regions(), 2u);
  EXPECT_EQ(errno, 77);
}

TEST_F(SectorCallsTest, InAParallelRegionEachThreadForItself) {
  isInParallel = true;
  int token = mpg_sector_begin(&ways);
  EXPECT_EQ(machine.l1(0), 0x13u);
  EXPECT_EQ(machine.l1(11), 0u);
  mpg_sector_end(token);
  isInParallel = false;
  EXPECT_EQ(regions(), 0u);
  EXPECT_EQ(machine.l1(0), 0u);
  EXPECT_EQ(machine.l2(0), 14u);
}

TEST_F(SectorCallsTest, AnotherThreadHasNoTeam) {
  std::thread([&] {
    FakeMachine::goTo(7);
    int token = mpg_sector_begin(&ways);
    EXPECT_EQ(machine.l1(7), 0x13u);
    mpg_sector_end(token);
    EXPECT_EQ(machine.l1(7), 0u);
  }).join();
  EXPECT_EQ(regions(), 0u);
}

TEST_F(SectorCallsTest, NoTeamIsMadeForNothing) {
  for (Reach &reach : machine.reach)
    reach = Reach::absent;
  EXPECT_LT(mpg_sector_begin(&ways), 0);
  mpg_sector_end(-1);
  EXPECT_EQ(regions(), 0u);
}
