// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs of compared programs: where they differ, what of them is libmpg's and
// not the program's, and the lists of modes.

#include "mpgrun/Compare/CompareOutput.h"
#include "Measure/Statistics.h"
#include "mpgrun/Compare/CompareRun.h"
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static OwnedFd fileWith(StringRef text) {
  OwnedFd file = makeOutputFile();
  EXPECT_TRUE(bool(file));
  EXPECT_EQ(write(file.get(), text.data(), text.size()), ssize_t(text.size()));
  return file;
}

TEST(CompareOutput, FindsTheFirstDifference) {
  const std::string large(200000, 'x'); // more than one block
  const struct {
    std::string one, other;
    std::optional<uint64_t> place;
  } cases[] = {
      {"", "", std::nullopt},
      {"same\n", "same\n", std::nullopt},
      {"", "a", 1},
      {"ab", "a", 2},
      {"abc", "abd", 3},
      {large + "a", large + "b", 200001},
      {large, large + "b", 200001},
      {large, large, std::nullopt},
  };
  for (const auto &test : cases) {
    OwnedFd one = fileWith(test.one), other = fileWith(test.other);
    EXPECT_EQ(firstDifference(one.get(), other.get(), false), test.place);
    EXPECT_EQ(digestOutput(one.get(), false) ==
                  digestOutput(other.get(), false),
              !test.place);
  }
}

TEST(CompareOutput, DigestIsThatOfSha256sum) {
  EXPECT_EQ(digestOutput(fileWith("abc").get(), false),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(CompareOutput, LeavesOutLinesOfLibmpg) {
  const struct {
    const char *with, *without;
  } cases[] = {
      {"mpg: LPG 2003: at 0x1\n", ""},
      {"a\nmpg: heap\nb\n", "a\nb\n"},
      {"mpg: no end of line", ""},
      {"mpg", "mpg"}, // the beginning of what never came
      {"mpg:\nmpgx\nmp\n\nmpg: y\n", "mpg:\nmpgx\nmp\n\n"},
      {"[WARN] xos LPG 9999 - heap\n[WARN] xos\n", "[WARN] xos\n"},
      {"mp[WARN] xos LPG 1\n", "mp[WARN] xos LPG 1\n"},
      {"see mpg: in the middle\n", "see mpg: in the middle\n"},
  };
  for (const auto &test : cases) {
    OwnedFd with = fileWith(test.with), without = fileWith(test.without);
    EXPECT_EQ(firstDifference(with.get(), without.get(), true), std::nullopt)
        << test.with;
    EXPECT_EQ(digestOutput(with.get(), true),
              digestOutput(without.get(), false))
        << test.with;
  }
}

TEST(CompareOutput, KnowsTheLastLines) {
  EXPECT_EQ(lastLines(fileWith("").get(), 3), "");
  EXPECT_EQ(lastLines(fileWith("one").get(), 3), "one");
  EXPECT_EQ(lastLines(fileWith("1\n2\n3\n4\n").get(), 2), "3\n4");
  EXPECT_EQ(lastLines(fileWith(std::string(9000, 'a') + "\nend\n").get(), 1),
            "end");
}

TEST(CompareModes, NamesWhatIsWrong) {
  std::string error;
  EXPECT_EQ(parseCompareModes(defaultCompareModes, error),
            (std::vector<std::string>{"none", "thp", "hugetlb"}));
  EXPECT_EQ(error, "");
  const struct {
    const char *list, *word;
  } cases[] = {{"", "empty"},           {"none,", "empty"},
               {"none,huge", "huge"},   {"thp,none,thp", "thp is there twice"},
               {"none", "one mode"},    {"none, thp", " thp is no mode"},
               {"none\x1b,thp", "x1b"}, {"NONE,thp", "NONE"}};
  for (const auto &test : cases) {
    error.clear();
    EXPECT_TRUE(parseCompareModes(test.list, error).empty() || !error.empty());
    EXPECT_NE(error.find(test.word), std::string::npos) << error;
  }
}

TEST(CompareModes, RunsEachModeOnceInAnOrderOfItsOwn) {
  std::mt19937_64 random(7), again(7);
  std::set<std::vector<size_t>> orders;
  for (int round = 0; round < 100; ++round) {
    std::vector<size_t> order = randomOrder(3, random);
    EXPECT_EQ(order, randomOrder(3, again));
    EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 3u);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u); // all that there are
}
