// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machines/MachineFile.h"
#include "ModelPrograms.h"
#include "NaiveModel.h"
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

using namespace mpg::sim;

/// A number from the environment: for the long run.
static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, nullptr, 10) : otherwise;
}

// If this fails, a trick of the model's loops changes what it counts.
TEST(SimModel, CountsWhatTheNaiveModelCounts) {
  uint64_t first = setting("MPG_SIM_SEED", 1);
  uint64_t programs = setting("MPG_SIM_PROGRAMS", 60), accesses = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    std::string difference = compareModels(seed, 4000, accesses);
    ASSERT_EQ(difference, "") << "seed " << seed;
  }
  printf("%llu random programs from seed %llu, %llu accesses: every counter "
         "the same\n",
         (unsigned long long)programs, (unsigned long long)first,
         (unsigned long long)accesses);
}

static uint64_t residentBytes() {
  uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * uint64_t(sysconf(_SC_PAGESIZE));
}

// If this fails, a model takes more memory than 64 MiB and 1/500 of what the
// program uses: here each of 4 Mi pages of 4 KiB, with every placement.
TEST(SimModel, MemoryIsASmallPartOfTheProgram) {
  constexpr uint64_t page = 4096, pages = uint64_t(4) << 20;
  Machine a64fx;
  ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", a64fx), "");
  WhatIf whatIf;
  whatIf.pageBytes = {page};
  whatIf.mapSeeds = {1};
  whatIf.placements = {PlacementPolicy::firstTouch, PlacementPolicy::oneGroup,
                       PlacementPolicy::interleave};
  malloc_trim(0); // what other tests left would be used again
  uint64_t before = residentBytes();
  Model model(a64fx, whatIf);
  unsigned site = model.addSite({});
  model.core(0).affine({{site, uint64_t(1) << 40, page}}, pages);
  uint64_t used = residentBytes() - before;
  printf("%llu KiB for a program of %llu GiB\n",
         (unsigned long long)(used >> 10),
         (unsigned long long)(page * pages >> 30));
  EXPECT_EQ(model.total(model.layout().moved(0, 0, 0, 0, 0, false)), pages);
  EXPECT_LE(used, (uint64_t(64) << 20) + page * pages / 500);
}

/// Streams of \p stride bytes, not at the same place of their pages.
static std::vector<Stream> findStreams(int64_t stride) {
  return {{0, (uint64_t(1) << 40) + 1024, stride},
          {1, (uint64_t(2) << 40) + 7 * 4096, stride},
          {2, (uint64_t(3) << 40) + 65536 - 8, stride}};
}

/// A64FX without caches after the first; \p entries in the last TLB.
static Machine withEntries(unsigned entries) {
  Machine machine;
  EXPECT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", machine), "");
  for (TlbArray &array : machine.tlbs[1].arrays)
    array.entries = entries;
  return machine;
}

static WhatIf withoutCaches() {
  WhatIf whatIf;
  whatIf.pageBytes = {65536, 2 << 20};
  whatIf.mapSeeds = {};
  return whatIf;
}

/// The counts of both models in a loop, and in a later one that sees the state
/// it left.
static void expectSameCounts(const Machine &machine, int64_t stride,
                             uint64_t times) {
  Model fast(machine, withoutCaches());
  NaiveModel naive(machine, withoutCaches());
  for (unsigned site = 0; site < 3; ++site) {
    fast.addSite({0, site, 8, site == 2, 0});
    naive.addSite({0, site, 8, site == 2, 0});
  }
  std::vector<Stream> back = findStreams(stride);
  for (Stream &stream : back) {
    stream.begin += uint64_t(stride) * times;
    stream.stride = -stride;
  }
  for (const auto &[streams, count] :
       {std::pair(findStreams(stride), times), std::pair(back, times / 8)}) {
    fast.core(0).affine(streams, count);
    naive.affine(0, streams, count);
    fast.core(0).access(0, streams[1].begin);
    naive.access(0, 0, streams[1].begin);
  }
  for (unsigned site = 0; site < 3; ++site)
    for (unsigned counter = 0; counter < fast.layout().size(); ++counter)
      ASSERT_EQ(fast.count(site, counter), naive.count(site, counter))
          << "stride " << stride << ", site " << site << ", counter "
          << counter;
}

// If this fails, a TLB that repeats itself is not left as the loop leaves it.
TEST(SimModel, LongLoopsLeaveTheTlbs) {
  for (int64_t stride : {64, -192}) {
    uint64_t step = uint64_t(stride > 0 ? stride : -stride);
    // With 48 entries the number of sets is not a power of two.
    for (unsigned entries : {32, 48})
      expectSameCounts(withEntries(entries), stride, (40 << 20) / step + 777);
  }
}

// If this fails, a loop along the next column of a matrix, in the same lines,
// does not do what the one before did.
TEST(SimModel, ColumnsOfAMatrix) {
  WhatIf whatIf = withoutCaches();
  whatIf.mapSeeds = {0, 7};
  Machine a64fx;
  ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", a64fx), "");
  for (uint64_t size : {160, 400}) {
    Model fast(a64fx, whatIf);
    NaiveModel naive(a64fx, whatIf);
    for (unsigned site = 0; site < 3; ++site) {
      fast.addSite({0, site, 8, site == 2, 0});
      naive.addSite({0, site, 8, site == 2, 0});
    }
    uint64_t row = size * 8, a = 1 << 24, b = a + size * row,
             c = b + size * row;
    // After some of other lengths, which are not repeated, for a while none is.
    for (uint64_t number = 0; number < 1100; ++number) {
      uint64_t i = number / 50, j = number % 50;
      uint64_t times = number < 8 ? size - number : size;
      std::vector<Stream> streams = {{0, a + i * row, 8},
                                     {1, b + j * 8, int64_t(row)}};
      fast.core(0).affine(streams, times);
      naive.affine(0, streams, times);
      fast.core(0).access(2, c + i * row + j * 8);
      naive.access(0, 2, c + i * row + j * 8);
    }
    for (unsigned site = 0; site < 3; ++site)
      for (unsigned counter = 0; counter < fast.layout().size(); ++counter)
        ASSERT_EQ(fast.count(site, counter), naive.count(site, counter))
            << "size " << size << ", site " << site << ", counter " << counter;
  }
}

static uint64_t countSteps(int64_t stride, uint64_t bytes,
                           const std::vector<uint64_t> &maps) {
  WhatIf whatIf = withoutCaches();
  whatIf.mapSeeds = maps;
  Model model(withEntries(1024), whatIf);
  for (unsigned site = 0; site < 3; ++site)
    model.addSite({0, site, 8, site == 2, 0});
  model.core(0).affine(findStreams(stride),
                       bytes / uint64_t(stride > 0 ? stride : -stride));
  return model.steps();
}

// A loop that only needs to be counted is not simulated again: in the first
// cache and the TLBs twice as many iterations take as many steps. L2 holds
// random pages, each of which is looked up.
TEST(SimModel, TwiceTheIterationsTakeNoLonger) {
  constexpr uint64_t bytes = uint64_t(4) << 30;
  for (int64_t stride : {8, 24, -8}) {
    uint64_t once = countSteps(stride, bytes, {});
    uint64_t twice = countSteps(stride, 2 * bytes, {});
    double withL2 = double(countSteps(stride, bytes / 16, {1}));
    printf("three streams of 4 GiB, stride %lld: %llu steps, twice as long %.2f"
           " times as many; with L2, of 256 MiB: %.0f, %.2f times\n",
           (long long)stride, (unsigned long long)once,
           double(twice) / double(once), withL2,
           double(countSteps(stride, bytes / 8, {1})) / withL2);
    EXPECT_LE(twice * 10, once * 11);
  }
}
