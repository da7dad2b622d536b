// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModelPrograms.h"
#include <cstdlib>
#include <gtest/gtest.h>

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
