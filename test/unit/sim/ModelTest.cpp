// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machines/MachineFile.h"
#include "ModelPrograms.h"
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
  uint64_t programs = setting("MPG_SIM_PROGRAMS", 40), accesses = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    std::string difference = compareModels(seed, 4000, accesses);
    ASSERT_EQ(difference, "") << "seed " << seed;
  }
  printf("%llu random programs from seed %llu, %llu accesses: every counter "
         "the same\n",
         (unsigned long long)programs, (unsigned long long)first,
         (unsigned long long)accesses);
}

// If this fails, a report by array or loop does not add up.
TEST(SimModel, SitesAddUpToArraysAndLoops) {
  Machine a64fx;
  ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/a64fx.yaml", a64fx), "");
  WhatIf whatIf;
  whatIf.pageBytes = {65536};
  Model model(a64fx, whatIf);
  unsigned first = model.addSite({1, 7, 8, false, 0});
  unsigned second = model.addSite({2, 7, 8, true, 0});
  unsigned third = model.addSite({2, 8, 8, true, 0});
  Core &core = model.core(0);
  core.affine({{first, 1 << 20, 8}}, 100);
  core.affine({{second, 1 << 20, 8}, {third, 1 << 24, 8}}, 300);
  unsigned accesses = model.layout().accesses();
  unsigned misses = model.layout().firstCache(0, Count::demandMisses);
  EXPECT_EQ(model.totalOfArray(7, accesses), 400U);
  EXPECT_EQ(model.totalOfArray(8, accesses), 300U);
  EXPECT_EQ(model.totalOfLoop(1, accesses), 100U);
  EXPECT_EQ(model.totalOfLoop(2, accesses), 600U);
  EXPECT_EQ(model.total(misses),
            model.totalOfArray(7, misses) + model.totalOfArray(8, misses));
}

/// Misses in L2, of 12,800 loads: a column of 128 lines, 64 KiB apart, 100
/// times.
static uint64_t missesOfColumn(const Machine &machine, uint64_t map) {
  WhatIf whatIf;
  whatIf.pageBytes = {2 << 20};
  whatIf.mapSeeds = {map};
  Model model(machine, whatIf);
  unsigned site = model.addSite({});
  for (unsigned pass = 0; pass < 100; ++pass)
    model.core(0).affine({{site, uint64_t(1) << 40, 65536}}, 128);
  return model.total(model.layout().cache(0, 0, 0, 1, Count::demandMisses));
}

// What no manual states becomes an interval around what the file says: without
// an index hash the column has two sets of L2, with one it has many.
TEST(SimModel, AssumptionsAndMapsAreAnInterval) {
  Machine zen4;
  ASSERT_EQ(readMachine(MPG_SIM_MACHINES "/zen4.yaml", zen4), "");
  std::vector<uint64_t> misses;
  for (const Machine &machine : varied(zen4))
    for (uint64_t map : {1, 2})
      misses.push_back(missesOfColumn(machine, map));
  auto [least, most] = std::minmax_element(misses.begin(), misses.end());
  printf("zen4: %llu of 12800 loads of a column miss in L2; by maps and "
         "assumptions %llu to %llu\n",
         (unsigned long long)misses[0], (unsigned long long)*least,
         (unsigned long long)*most);
  EXPECT_EQ(*most, 12800U);
  EXPECT_EQ(*least, 128U);
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
