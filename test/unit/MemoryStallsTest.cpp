// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stalls for memory out of texts as the kernel writes them, whole and damaged.

#include "Measure/MachineLoad.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace mpg;

static const char vmstat[] =
    "nr_free_pages 1\nallocstall_dma 0\nallocstall_normal 7\n"
    "allocstall_movable 30\ncompact_stall 3234\ncompact_fail 15\n"
    "thp_fault_alloc 90\nthp_fault_fallback 4\nthp_fault_fallback_charge 2\n";
static const char pressure[] =
    "some avg10=0.42 avg60=1.98 avg300=0.71 total=2500000\n"
    "full avg10=0.05 avg60=0.32 avg300=0.12 total=22770356\n";

TEST(MemoryStalls, ReadsWhatTheKernelWrites) {
  std::optional<MemoryStalls> stalls = parseStalls(vmstat, pressure);
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->describe(),
            "compaction 3,234 times (15 in vain), reclaim 37 times; large "
            "pages at 90 page faults, refused at 4; some process waited for "
            "memory for 2.50 s");
  stalls = parseStalls(vmstat, "");
  ASSERT_TRUE(stalls);
  EXPECT_FALSE(stalls->waitedSeconds);
  EXPECT_EQ(stalls->describe().find("waited"), std::string::npos);
}

TEST(MemoryStalls, OfAControlGroupTheKernelCountsOnlySome) {
  std::optional<MemoryStalls> stalls = parseGroupStalls(
      "anon 4096\nthp_fault_alloc 12\nthp_collapse_alloc 3\n", pressure);
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->describe(),
            "large pages at 12 page faults; khugepaged made 3; some process "
            "waited for memory for 2.50 s");
  // Version 1 counts no faults.
  EXPECT_FALSE(parseGroupStalls("cache 1\nrss_huge 2\n", ""));
}

TEST(MemoryStalls, OfAKernelWithoutCompactionThereAreNone) {
  EXPECT_FALSE(parseStalls("", ""));
  EXPECT_FALSE(parseStalls("compact_stall 1\n", pressure));
  EXPECT_FALSE(parseStalls("thp_fault_alloc 1\n", pressure));
}

TEST(MemoryStalls, WhatMakesNoSenseIsNotCounted) {
  std::optional<MemoryStalls> stalls =
      parseStalls("compact_stall x\ncompact_stall 18446744073709551615\n"
                  "compact_stall 3\nthp_fault_alloc 0\n\nthp_fault_alloc\n",
                  "some total=-1\n");
  ASSERT_TRUE(stalls);
  EXPECT_EQ(stalls->compactions, 3u);
  EXPECT_FALSE(stalls->waitedSeconds);
}

TEST(MemoryStalls, BetweenTwoLooksItIsWhatHasGrown) {
  MemoryStalls before, after;
  before.compactions = 10;
  after.compactions = 13;
  before.reclaims = 5;
  after.reclaims = 4; // as the kernel's counts sometimes do
  before.waitedSeconds = 1;
  MemoryStalls stalls = stallsBetween(before, after);
  EXPECT_EQ(stalls.compactions, 3u);
  EXPECT_EQ(stalls.reclaims, 0u);
  EXPECT_FALSE(stalls.waitedSeconds);
  EXPECT_EQ(stallsBetween(before, before).describe(), "none");
}

TEST(MemoryStalls, KnowsEachWordOfDefrag) {
  for (const char *word :
       {"always", "defer", "defer+madvise", "madvise", "never"})
    EXPECT_FALSE(describeDefrag(word).empty()) << word;
  EXPECT_TRUE(describeDefrag("").empty());
  EXPECT_TRUE(describeDefrag("sometimes").empty());
}
