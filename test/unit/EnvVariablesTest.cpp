// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of libmpg's variables in job scripts: which are legal, and what is
// proposed for one that is not. test/mpgaudit/job-*.test has the rules over
// scripts.

#include "JobRules/RuleContext.h"
#include "gtest/gtest.h"

using namespace mpg;

static constexpr const char *policy = "XOS_MMM_L_PAGING_POLICY";
static constexpr const char *demand = "demand:demand:demand";

TEST(EnvVariables, ValuesAreThoseOfTheTable) {
  const struct {
    const char *name, *value;
    bool legal;
  } cases[] = {
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlbfs", true},
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlb", false},
      {"XOS_MMM_L_HPAGE_TYPE", "hugetlbfs|none", false},
      {"XOS_MMM_L_HPAGE_TYPE", "", false},
      {policy, "demand:demand:prepage", true},
      {policy, "demand", false},
      {policy, "demand:demand", false},
      {policy, "demand:demand:demand:demand", false},
      {policy, "demand:demand:", false},
      {policy, "demand:Demand:demand", false},
      {"XOS_MMM_L_MAX_ARENA_NUM", "1", true},
      {"XOS_MMM_L_MAX_ARENA_NUM", "0", false},
      {"XOS_MMM_L_MAX_ARENA_NUM", "2147483647", true},
      {"XOS_MMM_L_MAX_ARENA_NUM", "2147483648", false},
      {"MALLOC_MMAP_THRESHOLD_", "0x32000", true},
      {"MALLOC_MMAP_THRESHOLD_", "0x", false},
      {"MALLOC_MMAP_THRESHOLD_", "200K", false},
      {"MALLOC_MMAP_THRESHOLD_", "-1", false},
      {"MALLOC_MMAP_THRESHOLD_", "+1", false},
      {"MALLOC_MMAP_THRESHOLD_", " 1", false},
      {"MALLOC_MMAP_THRESHOLD_", "18446744073709551615", true},
      {"MALLOC_MMAP_THRESHOLD_", "18446744073709551616", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10,4", true},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "15,0", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10", false},
      {"FLIB_L2_SECTOR_NWAYS_INIT", "10,4,0", false},
      {"MPG_TARGET", "8:0x1f", true},
      {"MPG_TARGET", "8", false},
  };
  for (const auto &test : cases) {
    const EnvVariable *row = findEnvVariable(test.name);
    ASSERT_NE(row, nullptr) << test.name;
    EXPECT_EQ(isLegalValue(*row, test.value), test.legal)
        << test.name << "=" << test.value;
  }
}

TEST(EnvVariables, WhatIsProposedIsLegal) {
  for (const EnvVariable &row : allEnvVariables())
    for (const char *wrong :
         {"", "on", "yes", "1", "demand", "prepage:demand", "a:b:c:d", "200K",
          "99999999999999999999", "TRUE", "64,64"}) {
      std::string better = nearestValue(row, wrong);
      if (row.type != EnvType::file && !row.fallback.empty()) {
        EXPECT_TRUE(isLegalValue(row, better))
            << row.name.str() << "=" << wrong << " -> " << better;
      }
    }
  EXPECT_EQ(nearestValue(*findEnvVariable(policy), "demand"), demand);
  EXPECT_EQ(nearestValue(*findEnvVariable(policy), "demand:prepage"),
            "demand:prepage:prepage");
  EXPECT_EQ(nearestValue(*findEnvVariable("MALLOC_MMAP_THRESHOLD_"), "200K"),
            "204800");
  // By its meaning, not its letters.
  for (auto [name, on] : {std::pair("MPG_MMAP", "thp"),
                          {"MPG_TEXT", "auto"},
                          {"MPG_MODE", "auto"},
                          {"MPG_QUIET", "1"},
                          {"XOS_MMM_L_HPAGE_TYPE", "hugetlbfs"},
                          {"XOS_MMM_L_PRINT_ENV", "on"},
                          {"FLIB_SCCR_CNTL", "TRUE"}})
    EXPECT_EQ(nearestValue(*findEnvVariable(name), "Yes"), on) << name;
  for (auto [name, off] : {std::pair("MPG_MMAP", "off"),
                           {"MPG_MODE", "none"},
                           {"XOS_MMM_L_COLORING", "0"},
                           {"XOS_MMM_L_HPAGE_TYPE", "none"},
                           {"FLIB_SCCR_CNTL", "FALSE"}})
    EXPECT_EQ(nearestValue(*findEnvVariable(name), "no"), off) << name;
}
