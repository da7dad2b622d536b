// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs of compared programs: where they differ, what of them is libmpg's and
// not the program's, the number of --metric in them, and the lists of modes.

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

TEST(CompareMetric, NamesWhatIsWrong) {
  const struct {
    const char *text, *word;
  } cases[] = {{"", "no regular expression"},
               {"more:", "no regular expression"},
               {"time", "it has no group; put ( )"},
               {"(a|b): ([0-9]+)", "it has 2 groups; put ( )"},
               {"time: ([0-9]+", "not understood: parentheses"},
               {"(?:a): ([0-9]+)", "not understood"},
               {"time: (\\d+)", "\\d is the letter alone"},
               {"time:\\s([0-9]+)", "[[:space:]]"}};
  for (const auto &test : cases) {
    std::string error;
    EXPECT_FALSE(parseMetric(test.text, error)) << test.text;
    EXPECT_NE(error.find(test.word), std::string::npos) << error;
  }
}

TEST(CompareMetric, ReadsTheLastLineThatMatches) {
  const struct {
    const char *output, *messages, *text;
    double value;
  } cases[] = {
      {"t=3\nt=2.5\nend\n", "", "2.5", 2.5},
      {"t=3\nt=4", "t=9\n", "4", 4},     // the end of a line is missing
      {"none\n", "t=9\n", "9", 9},       // standard error comes second
      {"", "mpg: t=1\n\nt=9\n", "9", 9}, // and libmpg's lines are not its
      {"t=1\rt=2\rt=3\n", "", "3", 3},   // a line that is written over
      {"t=1 t=2\n", "", "1", 1},
      {"t= 1e-3\n", "", "1e-3", 1e-3},
      {"t= 0.125D+02 s\n", "", "0.125D+02", 12.5}, // Fortran
  };
  std::string error;
  std::optional<Metric> metric = parseMetric("t=( *[^ ]+)", error);
  ASSERT_TRUE(metric) << error;
  for (const auto &test : cases) {
    MetricReading reading = readMetric(*metric, fileWith(test.output).get(),
                                       fileWith(test.messages).get());
    EXPECT_EQ(reading.problem, "") << test.output;
    EXPECT_EQ(reading.text, test.text);
    EXPECT_DOUBLE_EQ(reading.value, test.value);
  }
}

TEST(CompareMetric, TakesNothingForANumberThatIsNone) {
  const struct {
    std::string output;
    const char *word;
  } cases[] = {{"", "no line"},
               {"time: 3\n", "no line"},
               {"t=1,234\n", "'1,234'"},
               {"t=nan\n", "'nan'"},
               {"t=inf\n", "'inf'"},
               {"t=0x10\n", "'0x10'"},
               {"t=0.00\n", "is 0.00"},
               {"t=-1\n", "is -1"},
               {"t=1e999\n", "'1e999'"},
               {"t=3s\n", "'3s'"},
               {"t=1\nt=x\n", "'x'"}, // not the one before
               {std::string(1 << 16, 'x') + "t=1\n", "no line"}};
  for (const auto &test : cases) {
    MetricReading reading = readMetric(
        Metric{"t=([^ ]+)"}, fileWith(test.output).get(), fileWith("").get());
    EXPECT_NE(reading.problem.find(test.word), std::string::npos)
        << test.output << reading.problem;
  }
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
               {"none", "one mode"},    {"none, thp", " thp is not a mode"},
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
