// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which plots mpgbench's page has and their axes; and values that no result
// file can hold. test/mpgbench/page.test looks at whole pages.

#include "Support/Table.h"
#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

/// Adds a point with one repetition.
static PointResult &addPoint(ExperimentResult &experiment,
                             Parameters parameters, double value) {
  PointResult point;
  point.parameters = std::move(parameters);
  point.summary = summarise({value});
  point.samples.resize(1);
  point.rounds = {1};
  experiment.points.push_back(std::move(point));
  return experiment.points.back();
}

static ExperimentResult makeTriad() {
  ExperimentResult triad;
  triad.xParameter = "pages";
  for (const char *kind : {"4K", "THP", "2M", "1G"})
    for (const char *threads : {"1", "2"})
      addPoint(triad, {{"pages", kind}, {"threads", threads}}, 33);
  triad.points.back().samples.clear();
  for (const char *policy : {"demand", "prepage"})
    addPoint(triad, {{"pages", "2M"}, {"threads", "2"}, {"policy", policy}},
             45);
  return triad;
}

TEST(BenchHtml, impossibleValuesAndTextsAreNotWritten) {
  const double infinity = INFINITY;
  BenchRun run;
  ExperimentResult chase;
  chase.name = run.date = "\xff\xfe\x01";
  chase.xParameter = "pages";
  for (double value : {1e-280, 1e270, double(NAN)}) {
    PointResult &point = addPoint(chase, {{"pages", "2M"}}, value);
    point.summary.interval = Interval{-1, infinity};
    chase.guide.push_back({"much", infinity, "", ""});
    Conclusion conclusion;
    conclusion.ratio.value = value;
    conclusion.ratio.interval = Interval{0, 1e300};
    chase.conclusions.push_back(conclusion);
  }
  run.experiments = {chase};
  std::string page;
  raw_string_ostream stream(page);
  writeBenchHtml(stream, run);
  EXPECT_TRUE(json::isUTF8(stream.str()));
  for (const char *word : {"\"nan", "\"inf", "\"-inf", " nan", " inf", "\x01"})
    EXPECT_FALSE(StringRef(page).contains(word)) << word;
}

TEST(BenchPanels, pointsOfOneKindOfPagesTakeAnAxisThatVaries) {
  PlotSet set = arrangePlots(makeTriad());
  ASSERT_EQ(set.panels.size(), 3u);
  EXPECT_EQ(set.panels[0].title, "threads 1");
  EXPECT_EQ(set.panels[0].xName, "pages");
  EXPECT_EQ(set.panels[1].categories.size(), 4u); // 1G is missing, not away
  EXPECT_EQ(set.panels[1].points.size(), 3u);
  EXPECT_EQ(set.panels[2].title, "pages 2M, threads 2");
  EXPECT_EQ(set.panels[2].xName, "policy");
  EXPECT_EQ(set.panels[2].categories,
            (std::vector<std::string>{"demand", "prepage"}));
}

TEST(BenchPanels, numbersRiseWhateverTheOrderOfThePlan) {
  ExperimentResult sweep;
  sweep.xParameter = "size";
  sweep.xIsNumber = true;
  for (const char *size : {"1G", "16K", "2M"})
    addPoint(sweep, {{"size", size}}, 5);
  PlotSet set = arrangePlots(sweep);
  EXPECT_EQ(set.panels[0].categories,
            (std::vector<std::string>{"16K", "2M", "1G"}));
  EXPECT_EQ(set.panels[0].numbers.front(), 16384);
  addPoint(sweep, {{"size", "all"}}, 5); // no number: categories
  EXPECT_TRUE(arrangePlots(sweep).panels[0].numbers.empty());
}

TEST(BenchAxis, ticksAreRoundAndHoldTheValues) {
  for (double max : {0.0042, 0.97, 1.0, 7.3, 10.0, 62.3, 999.0, 1e6, 3e-200}) {
    ValueAxis axis = ValueAxis::linear(max);
    EXPECT_LT(axis.fraction(max), 1) << max;
    EXPECT_GT(axis.fraction(max), 0.6) << max;
    EXPECT_GE(axis.ticks().size(), 4u) << max;
    EXPECT_LE(axis.ticks().size(), 9u) << max;
    for (size_t i = 1; i < axis.ticks().size(); ++i)
      EXPECT_NE(axis.ticks()[i].label, axis.ticks()[i - 1].label) << max;
  }
  ValueAxis decades = ValueAxis::logarithmic(0.97, 286);
  EXPECT_GT(decades.fraction(0.97), 0);
  EXPECT_LT(decades.fraction(286), 1);
  EXPECT_EQ(decades.ticks().front().label, "0.5");
  EXPECT_EQ(decades.ticks().back().label, "500");
  EXPECT_LE(ValueAxis::logarithmic(1e-280, 1e280).ticks().size(), 8u);
  // Zeros alone, with an axis that ends at 1.
  ValueRange none;
  none.max = 1;
  EXPECT_FALSE(none.axis(20).isLogarithmic());
  EXPECT_GT(none.axis(20).ticks().size(), 2u);
}

TEST(BenchTables, figuresHaveFourDigits) {
  const std::pair<double, const char *> cases[] = {{0, "0"},
                                                   {46.2712, "46.27"},
                                                   {286.13, "286.1"},
                                                   {1033.4, "1033"},
                                                   {0.9712, "0.9712"},
                                                   {9.1, "9.100"},
                                                   {0.00001, "1.000e-05"},
                                                   {2.5e9, "2500000000"},
                                                   {NAN, "-"},
                                                   {INFINITY, "-"}};
  for (const auto &[value, text] : cases)
    EXPECT_EQ(formatFigure(value), text);
}
