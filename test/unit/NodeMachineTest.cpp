// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --move promises exactly the moves that the kernel makes.

#include "Node/NodeMachine.h"
#include <gtest/gtest.h>

using namespace mpg;

static NumaFacts machine(unsigned nodes, Fact<uint64_t> balancing) {
  NumaFacts facts;
  for (unsigned id = 0; id < nodes; ++id) {
    facts.nodes.emplace_back();
    facts.nodes.back().id = id;
    facts.nodes.back().memoryBytes = uint64_t(1) << 30;
  }
  facts.balancing = std::move(balancing);
  return facts;
}

static bool says(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

TEST(WhyNothingMoves, NamesWhatIsMissing) {
  auto none = Fact<uint64_t>::missing("/proc/x: no such file");
  EXPECT_EQ(whyNothingMoves(machine(4, 1), false), "");
  EXPECT_EQ(whyNothingMoves(machine(2, 3), false), "");
  EXPECT_TRUE(says(whyNothingMoves(machine(1, 1), false), "one NUMA node"));
  EXPECT_TRUE(says(whyNothingMoves(machine(0, none), false), "one NUMA node"));
  EXPECT_TRUE(says(whyNothingMoves(machine(4, none), false), "/proc/x"));
  EXPECT_TRUE(says(whyNothingMoves(machine(4, 1), true), "numactl"));
  // 2 moves between tiers of memory and not between nodes.
  for (uint64_t off : {0, 2})
    EXPECT_TRUE(says(whyNothingMoves(machine(4, off), false), "sysctl"));
}

TEST(WhyNothingMoves, CountsNodesThatTheJobMayUse) {
  NumaFacts facts = machine(4, 1);
  facts.nodes[1].isAllowed = facts.nodes[2].isAllowed = false;
  EXPECT_EQ(whyNothingMoves(facts, false), "");
  facts.nodes[3].memoryBytes = 0; // CPUs without memory
  EXPECT_TRUE(says(whyNothingMoves(facts, false), "one NUMA node"));
}
