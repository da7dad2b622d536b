// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of mpgbench --html over made-up results: well formed, harmless,
// every number of every picture inside of the picture, no label over another.

#include "mpgbench/Report/BenchHtmlParts.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Made-up results
//===----------------------------------------------------------------------===//

static std::mt19937 randomBits(7);

/// Gives \p point repetitions around \p value, and their summary: of seven,
/// the interval goes from the smallest to the largest.
static void measure(PointResult &point, double value, double spread = 0.02,
                    unsigned count = 7) {
  std::vector<double> values;
  for (unsigned i = 0; i < count; ++i) {
    double noise = double(randomBits() % 1000) / 1000;
    WorkerResult sample;
    sample.value = value * (1 + spread * (noise * noise * 2 - 0.5));
    sample.backing.hugetlbBytes = 1 << 30;
    sample.counters = {
        {"page-faults", 1000 + i, ""},
        {"cycles", std::nullopt, "not available: no counters are visible"}};
    values.push_back(sample.value);
    point.samples.push_back(sample);
    point.rounds.push_back(i + 1);
  }
  std::sort(values.begin(), values.end());
  point.summary.count = count;
  point.summary.median = values[count / 2];
  point.summary.min = values.front();
  point.summary.max = values.back();
  if (count >= 6)
    point.summary.interval = Interval{values.front(), values.back()};
}

static PointResult &addPoint(ExperimentResult &experiment,
                             Parameters parameters) {
  PointResult point;
  point.name = experiment.name;
  for (const auto &[name, value] : parameters)
    point.name += "/" + name + "=" + value;
  point.parameters = std::move(parameters);
  experiment.points.push_back(std::move(point));
  return experiment.points.back();
}

static Conclusion conclude(Conclusion::Kind kind, const char *text,
                           double ratio, double low, double high) {
  Conclusion conclusion;
  conclusion.kind = kind;
  conclusion.text = text;
  conclusion.ratio.value = ratio;
  if (low > 0)
    conclusion.ratio.interval = Interval{low, high};
  return conclusion;
}

static ExperimentResult makeTriad() {
  ExperimentResult triad;
  triad.name = "triad";
  triad.title = "STREAM triad by kind of pages and by paging policy";
  triad.unit = "GB/s";
  triad.higherIsBetter = true;
  triad.accounting = "24 bytes an element: two reads and one write; "
                     "write-allocate is not counted";
  triad.xParameter = "pages";
  triad.seriesParameter = "";
  const char *kinds[] = {"4K", "THP", "2M", "1G"};
  double one[] = {33.1, 41.8, 42.3, 42.1}, two[] = {37.7, 47.9, 48.4, 0};
  for (int i = 0; i < 4; ++i) {
    measure(addPoint(triad, {{"pages", kinds[i]}, {"threads", "1"}}), one[i]);
    PointResult &point =
        addPoint(triad, {{"pages", kinds[i]}, {"threads", "2"}});
    if (two[i] > 0)
      measure(point, two[i], 0.08);
    else
      point.missing = "0 of 2 pages of 1 GiB are free; echo 2 > "
                      "/proc/sys/vm/nr_hugepages";
    point.isBusy = i == 1;
  }
  for (const char *policy : {"demand", "prepage"})
    measure(addPoint(triad,
                     {{"pages", "2M"}, {"threads", "2"}, {"policy", policy}}),
            45);
  triad.guide = {
      {"A64FX, 1 thread, 64 KiB pages", 46.3, "guide 7.1, converted", "4K"},
      {"A64FX, 1 thread, 2 MiB pages", 58.0, "guide 7.1, converted", "2M"},
      {"A64FX, 48 threads, demand", 603, "guide 7.2, converted", "demand"},
      {"A64FX, 48 threads, prepage", 69.8, "guide 7.2, converted", "prepage"}};
  triad.conclusions = {
      conclude(Conclusion::Kind::yes,
               "1 thread, 2M pages against 4K: 1.28x faster [1.25, 1.31]", 1.28,
               1.25, 1.31),
      conclude(Conclusion::Kind::undecided,
               "prepage against demand: 1.00x [0.98, 1.02]", 1, .98, 1.02)};
  return triad;
}

static ExperimentResult makeWss() {
  ExperimentResult wss;
  wss.name = "wss";
  wss.title = "Dependent loads over working sets of growing size";
  wss.unit = "ns";
  wss.accounting = "one load of each line, in random order";
  wss.xParameter = "size";
  wss.seriesParameter = "pages";
  wss.xIsNumber = true;
  const char *sizes[] = {"16K", "32K",  "64K",  "128K", "256K", "512K",
                         "1M",  "2M",   "4M",   "8M",   "16M",  "32M",
                         "64M", "128M", "256M", "512M", "1G"};
  double small[] = {.97, .98, 2.1, 2.9, 3.1, 3.9, 7,   9,  12.5,
                    38,  124, 152, 160, 177, 196, 240, 286},
         large[] = {.97, .97, 2.1, 2.9, 3.1, 3.8, 7,   9,  12.4,
                    36,  114, 134, 146, 154, 161, 168, 173};
  for (int i = 0; i < 17; ++i) {
    measure(addPoint(wss, {{"size", sizes[i]}, {"pages", "4K"}}), small[i]);
    measure(addPoint(wss, {{"size", sizes[i]}, {"pages", "2M"}}), large[i]);
  }
  wss.guide = {{"A64FX, L2", 23, "manual 1.8.1; 46 cycles at 2 GHz", ""},
               {"A64FX, memory", 140, "manual 1.8.1", ""}};
  wss.conclusions = {conclude(Conclusion::Kind::yes,
                              "at 1G, 2M pages: 1.65x faster [1.6, 1.7]", 1.65,
                              1.6, 1.7)};
  return wss;
}

static ExperimentResult makeChase() {
  ExperimentResult chase;
  chase.name = "chase";
  chase.title = "Dependent loads that hop from page to page";
  chase.unit = "ns";
  chase.xParameter = "pages";
  measure(addPoint(chase, {{"pages", "4K"}, {"size", "1G"}}), 286, 0.1);
  measure(addPoint(chase, {{"pages", "THP"}, {"size", "1G"}}), 169);
  measure(addPoint(chase, {{"pages", "2M"}, {"size", "1G"}}), 173);
  chase.conclusions = {conclude(Conclusion::Kind::yes,
                                "2M pages: 1.65x faster [1.60, 1.71]", 1.65,
                                1.6, 1.71)};
  return chase;
}

static ExperimentResult makeThresh() {
  ExperimentResult thresh;
  thresh.name = "thresh";
  thresh.title = "Eight arrays of one size: who shares cache sets";
  thresh.unit = "ms";
  thresh.xParameter = "heap";
  thresh.seriesParameter = "";
  const char *heaps[] = {"glibc", "libmpg, COLORING=0", "libmpg, COLORING=1",
                         "MALLOC_MMAP_THRESHOLD_=204800"};
  double values[] = {0.182, 0.31, 0.175, 0.18}, sets[] = {0, 64, 0, 0};
  for (int i = 0; i < 4; ++i) {
    PointResult &point = addPoint(thresh, {{"heap", heaps[i]}});
    measure(point, values[i], 0.05);
    for (WorkerResult &sample : point.samples)
      sample.figures["conflicting_a64fx_sets"] = sets[i];
  }
  thresh.conclusions = {conclude(Conclusion::Kind::no,
                                 "no gain: 1.00x [0.98, 1.02]", 1, .98, 1.02),
                        conclude(Conclusion::Kind::notMeasured,
                                 "not measured: no libmpg", 1, 0, 0)};
  return thresh;
}

static ExperimentResult makeArena() {
  ExperimentResult arena;
  arena.name = "arena";
  arena.title = "Large blocks, twice: what ARENA_FREE costs";
  arena.unit = "ms";
  arena.xParameter = "phase";
  arena.seriesParameter = "setting";
  const char *phases[] = {"malloc1", "free1", "malloc2", "free2"};
  double keep[] = {410, 0.021, 0.4, 0.02}, give[] = {405, 11, 409, 11};
  for (int i = 0; i < 4; ++i) {
    measure(addPoint(arena, {{"phase", phases[i]}, {"setting", "FREE=1"}}),
            give[i], 0.1);
    measure(addPoint(arena, {{"phase", phases[i]}, {"setting", "FREE=2"}}),
            keep[i], 0.1);
  }
  return arena;
}

static BenchRun makeRun() {
  BenchRun run;
  run.version = "0.9";
  run.date = "2026-11-22T04:10:00Z";
  run.machine = {{"processor", "Example 9 processor"},
                 {"kernel", "Linux 6.1.0 x86_64"},
                 {"transparent huge pages", "madvise"}};
  run.repetitions = 7;
  run.seed = 42;
  run.quick = true;
  run.load.seconds = 60;
  run.experiments = {makeTriad(), makeWss(), makeChase(), makeThresh(),
                     makeArena()};
  return run;
}

static std::string getPage(const BenchRun &run) {
  std::string text;
  raw_string_ostream stream(text);
  writeBenchHtml(stream, run);
  stream.flush();
  return text;
}

//===----------------------------------------------------------------------===//
// Reading a page again
//===----------------------------------------------------------------------===//

namespace {

struct Tag {
  StringRef name;
  StringRef attributes; ///< all of them
  StringRef text;       ///< that follows, up to the next tag
  bool closes, isEmpty;
};

struct Box {
  double left, right, top, bottom;
  std::string text;
};

} // namespace

static std::vector<Tag> parseTags(StringRef page) {
  std::vector<Tag> tags;
  while (page.contains('<')) {
    page = page.drop_front(page.find('<') + 1);
    StringRef inside = page.take_until([](char c) { return c == '>'; });
    page = page.drop_front(inside.size() + 1);
    Tag tag;
    tag.closes = inside.consume_front("/");
    tag.isEmpty = inside.consume_back("/") || inside.starts_with("meta") ||
                  inside.starts_with("!");
    tag.name = inside.take_until([](char c) { return c == ' '; });
    tag.attributes = inside.drop_front(tag.name.size());
    tag.text = page.take_until([](char c) { return c == '<'; });
    tags.push_back(tag);
  }
  return tags;
}

static StringRef attribute(const Tag &tag, StringRef name) {
  std::string begin = (" " + name + "=\"").str();
  size_t at = tag.attributes.find(begin);
  if (at == StringRef::npos)
    return "";
  return tag.attributes.drop_front(at + begin.size()).split('"').first;
}

/// All elements are closed, and in order; nothing runs and nothing is loaded.
static void expectWellFormed(StringRef page) {
  std::vector<StringRef> open;
  for (const Tag &tag : parseTags(page)) {
    ASSERT_EQ(tag.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"
                                         "!DOCTYPE"),
              StringRef::npos)
        << tag.name.str();
    EXPECT_NE(tag.name, "script");
    EXPECT_EQ(tag.attributes.count('"') % 2, 0u) << tag.attributes.str();
    StringRef target = attribute(tag, "href");
    EXPECT_TRUE(target.empty() || target.starts_with("#")) << target.str();
    if (tag.closes) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.name);
      open.pop_back();
    } else if (!tag.isEmpty) {
      open.push_back(tag.name);
    }
  }
  EXPECT_TRUE(open.empty());
}

static double toNumber(StringRef text) {
  double value = NAN;
  EXPECT_FALSE(text.getAsDouble(value)) << text.str();
  return value;
}

/// The numbers of a path of absolute "M x y" and "L x y".
static std::vector<double> pathNumbers(StringRef path) {
  std::vector<double> numbers;
  SmallVector<StringRef, 32> words;
  path.split(words, ' ', -1, false);
  for (StringRef word : words)
    numbers.push_back(toNumber(word.ltrim("ML")));
  return numbers;
}

/// Columns of \p text, entities being letters.
static double parseColumns(StringRef text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '&')
      i += text.drop_front(i).find(';');
  }
  return double(labelColumns(plain));
}

/// Where a text lies if each column takes 6 units; letters are narrower.
static Box parseBox(const Tag &tag) {
  double x = toNumber(attribute(tag, "x")), y = toNumber(attribute(tag, "y"));
  double length = parseColumns(tag.text.trim()) * 6;
  StringRef anchor = attribute(tag, "text-anchor");
  double left = anchor == "end"      ? x - length
                : anchor == "middle" ? x - length / 2
                                     : x;
  Box box = {left, left + length, y - 8, y + 2, tag.text.str()};
  if (tag.attributes.contains("rotate(-45")) { // along the diagonal
    box.left = x - length * 0.71;
    box.right = x;
    box.bottom = y + length * 0.71;
  }
  return box;
}

static void expectInside(double value, double limit, StringRef what) {
  EXPECT_TRUE(std::isfinite(value) && value >= 0 && value <= limit)
      << what.str() << " " << value << " of " << limit;
}

static void expectApart(const std::vector<Box> &boxes) {
  for (size_t i = 0; i < boxes.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Box &a = boxes[i], &b = boxes[j];
      EXPECT_FALSE(a.left < b.right && b.left < a.right && a.top < b.bottom &&
                   b.top < a.bottom)
          << a.text << " over " << b.text;
    }
}

/// Checks all pictures; returns how many plots there are.
static unsigned checkPictures(StringRef page) {
  unsigned plots = 0;
  double width = 0, height = 0;
  bool inPlot = false;
  std::vector<Box> boxes;
  for (const Tag &tag : parseTags(page)) {
    if (tag.name == "svg" && tag.closes) {
      expectApart(boxes);
      boxes.clear();
      width = 0;
    } else if (tag.name == "svg" && !attribute(tag, "viewBox").empty()) {
      std::vector<double> view = pathNumbers(attribute(tag, "viewBox"));
      width = view[2];
      height = view[3];
      inPlot = attribute(tag, "class") == "plot";
      plots += inPlot;
    }
    if (width == 0 || tag.closes)
      continue;
    for (const char *name : {"x", "cx", "x1", "x2"})
      if (!attribute(tag, name).empty())
        expectInside(toNumber(attribute(tag, name)), width, name);
    for (const char *name : {"y", "cy", "y1", "y2"})
      if (!attribute(tag, name).empty())
        expectInside(toNumber(attribute(tag, name)), height, name);
    if (!inPlot)
      continue;
    if (tag.name == "path") {
      std::vector<double> numbers = pathNumbers(attribute(tag, "d"));
      for (size_t i = 0; i < numbers.size(); ++i)
        expectInside(numbers[i], i % 2 ? height : width, "path");
    }
    if (tag.name == "text") {
      Box box = parseBox(tag);
      for (double at : {box.left, box.right})
        expectInside(at, width, box.text);
      for (double at : {box.top, box.bottom})
        expectInside(at, height, box.text);
      // Boxes of labels that stand askew overlap; the labels do not.
      if (!tag.attributes.contains("rotate"))
        boxes.push_back(box);
    }
  }
  return plots;
}

static unsigned checkPage(const BenchRun &run) {
  std::string page = getPage(run);
  expectWellFormed(page);
  return checkPictures(page);
}

/// The part of the page about the experiment \p index, from 1.
static std::string makeSection(const BenchRun &run, unsigned index) {
  std::string page = getPage(run);
  StringRef rest =
      StringRef(page).split("<section id=\"e" + itostr(index)).second;
  return rest.split("</section>").first.str();
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(BenchHtml, realisticRunIsWellFormedAndAllPicturesFit) {
  // triad: two numbers of threads, and policies; the others one each.
  EXPECT_EQ(checkPage(makeRun()), 3u + 1 + 1 + 1 + 1);
}

TEST(BenchHtml, everyMeasuredPointIsDrawnAndEveryRepetition) {
  std::string section = makeSection(makeRun(), 1);
  StringRef triad = section;
  EXPECT_EQ(triad.count("<g class=\"point s0\"><title>") +
                triad.count("<g class=\"point s0 busy\"><title>"),
            9u);
  // Two of them are the legend's.
  EXPECT_EQ(triad.count("class=\"repetition\""), 9u * 7 + 2);
  EXPECT_EQ(triad.count("<g class=\"point s0 busy\">"), 1u);
  EXPECT_TRUE(triad.contains("Not measured: <code>triad/pages=1G/threads=2"));
  EXPECT_TRUE(triad.contains("0 of 2 pages of 1 GiB are free"));
}

TEST(BenchHtml, guideNeverSqueezesWhatWasMeasured) {
  std::string section = makeSection(makeRun(), 1);
  StringRef triad = section;
  // 603 GB/s beside 45 would leave the points at the bottom.
  EXPECT_FALSE(triad.contains(": A64FX, 48 threads, demand: 603"));
  EXPECT_TRUE(triad.contains("(not drawn: far from the values here)"));
  EXPECT_TRUE(triad.contains("<title>A: A64FX, 1 thread, 64 KiB pages: 46.30"));
  EXPECT_TRUE(triad.contains("<span class=\"keybox\">A</span>"));
}

TEST(BenchHtml, lettersOfCloseFiguresStandApart) {
  BenchRun run = makeRun();
  ExperimentResult &chase = run.experiments[2];
  for (double value : {170.0, 171.0, 172.0, 0.001})
    for (const char *at : {"", "2M"})
      chase.guide.push_back({"A64FX", value, "guide", at});
  checkPage(run);
  std::string section = makeSection(run, 3);
  EXPECT_EQ(StringRef(section).count("<text class=\"key\""), 6u);
  EXPECT_EQ(StringRef(section).count("(not drawn: far from"), 2u);
}

TEST(BenchHtml, smallValuesAreNotLostBesideLargeOnes) {
  BenchRun run;
  run.experiments = {makeTriad()};
  EXPECT_FALSE(StringRef(getPage(run)).contains("a scale of its own"));
  // Nine times as many GB/s with two threads.
  for (PointResult &point : run.experiments[0].points)
    if (parameter(point.parameters, "threads") == "1")
      point.summary.median = point.summary.interval->high = 5;
  for (PointResult &point : run.experiments[0].points)
    if (parameter(point.parameters, "threads") == "1") {
      point.summary.interval->low = 4;
      for (WorkerResult &sample : point.samples)
        sample.value = 5;
    }
  EXPECT_EQ(StringRef(getPage(run)).count("a scale of its own"), 1u);
  checkPage(run);
}

TEST(BenchHtml, latenciesAreOnALogarithmicAxisAndBandwidthsAtZero) {
  BenchRun run = makeRun();
  std::string triad = makeSection(run, 1), wss = makeSection(run, 2);
  EXPECT_FALSE(StringRef(triad).contains("logarithmic"));
  EXPECT_TRUE(StringRef(triad).contains(">GB/s, higher is better</text>"));
  EXPECT_TRUE(StringRef(wss).contains(">ns, lower is better; logarithmic<"));
  EXPECT_TRUE(StringRef(wss).contains(">16K</text>"));
  EXPECT_TRUE(StringRef(wss).contains("<path class=\"curve s1\""));
}

TEST(BenchHtml, busyMachineIsSaidBeforeAnythingElse) {
  BenchRun run = makeRun();
  run.load.othersCpus = 1.3;
  std::string page = getPage(run);
  EXPECT_TRUE(StringRef(page).contains("The machine was busy</strong>"));
  EXPECT_LT(page.find("The machine was busy"), page.find("Conclusions"));
  run.load.othersCpus = 0;
  run.experiments[0].points[3].isBusy = false;
  page = getPage(run);
  EXPECT_TRUE(StringRef(page).contains("The machine was quiet"));
  EXPECT_FALSE(StringRef(page).contains("class=\"banner\""));
}

TEST(BenchHtml, verdictsOfAllKindsAreNamed) {
  std::string page = getPage(makeRun());
  for (const char *word : {">yes<", ">no<", ">undecided<", ">not measured<"})
    EXPECT_TRUE(StringRef(page).contains(word)) << word;
}

TEST(BenchHtml, countersAndFiguresAreShownAndMissingOnesSaidOnce) {
  std::string thresh = makeSection(makeRun(), 4);
  EXPECT_EQ(StringRef(thresh).count("no counters are visible"), 1u);
  EXPECT_TRUE(StringRef(thresh).contains(">conflicting_a64fx_sets</th>"));
  EXPECT_TRUE(StringRef(thresh).contains("<td class=\"size\">64.00</td>"));
}

TEST(BenchHtml, hostileTextStaysText) {
  const std::string bad =
      "</svg><script>alert(1)</script>&\"'<!--\x01\x1b[31m\xff\xfe\n> ]]>";
  BenchRun run = makeRun();
  run.version = run.date = bad;
  run.machine = {{bad, bad}};
  for (ExperimentResult &experiment : run.experiments) {
    experiment.name = experiment.title = experiment.unit = bad;
    experiment.accounting = bad;
    for (GuideFigure &figure : experiment.guide)
      figure.label = figure.source = bad;
    for (Conclusion &conclusion : experiment.conclusions)
      conclusion.text = bad;
    for (PointResult &point : experiment.points) {
      point.name = bad;
      if (!point.missing.empty())
        point.missing = bad;
      for (auto &[name, value] : point.parameters)
        value += bad;
      for (WorkerResult &sample : point.samples) {
        sample.figures[bad] = 1;
        sample.counters.push_back({bad + "2", std::nullopt, bad});
      }
    }
  }
  run.experiments[3].xParameter = bad;
  for (PointResult &point : run.experiments[3].points)
    point.parameters[0].first = bad;
  checkPage(run);
  std::string page = getPage(run);
  EXPECT_FALSE(StringRef(page).contains("<script"));
  EXPECT_FALSE(StringRef(page).contains("<!--"));
  for (char c : page)
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(BenchHtml, emptyRunsAndRunsWithoutMeasurements) {
  EXPECT_EQ(checkPage(BenchRun()), 0u);
  BenchRun run;
  run.experiments.resize(1); // an experiment without anything
  EXPECT_EQ(checkPage(run), 0u);
  run = makeRun();
  for (ExperimentResult &experiment : run.experiments)
    for (PointResult &point : experiment.points) {
      point.samples.clear();
      point.rounds.clear();
      point.summary = Summary();
      point.missing = "no free 2 MiB pages";
    }
  EXPECT_EQ(checkPage(run), 0u);
  std::string page = getPage(run);
  EXPECT_TRUE(StringRef(page).contains("0 of 59 points in 5 experiments"));
}

TEST(BenchHtml, onePointWithOneRepetition) {
  BenchRun run;
  ExperimentResult one;
  one.name = "fault";
  one.unit = "ms";
  one.xParameter = "pages";
  for (bool isNumber : {false, true}) {
    one.xIsNumber = isNumber;
    one.points.clear();
    measure(addPoint(one, {{"pages", "2M"}}), 12, 0.02, 1);
    run.experiments = {one};
    EXPECT_EQ(checkPage(run), 1u);
    EXPECT_FALSE(StringRef(getPage(run)).contains("class=\"interval\" d"));
  }
  one.points.clear();
  measure(addPoint(one, {}), 12); // no parameters at all
  run.experiments = {one};
  EXPECT_EQ(checkPage(run), 1u);
}

TEST(BenchHtml, hugeTinyAndImpossibleValuesStayInThePicture) {
  for (bool higherIsBetter : {false, true})
    for (double low : {1e-280, 1e-3, 1e280}) {
      BenchRun run = makeRun();
      ExperimentResult &chase = run.experiments[2];
      chase.higherIsBetter = higherIsBetter;
      chase.points[0].summary.median = low;
      chase.points[1].summary.median = 1e270;
      chase.points[1].summary.interval = Interval{-1, INFINITY};
      chase.points[2].summary.median = NAN;
      chase.guide = {{"nothing", NAN, "", ""}, {"much", INFINITY, "", "2M"}};
      chase.conclusions[0].ratio.value = INFINITY;
      chase.conclusions[0].ratio.interval = Interval{0, 1e300};
      EXPECT_EQ(checkPage(run), 7u);
    }
}

TEST(BenchHtml, manyPointsFindRoomOrAreSaidToBeLeftOut) {
  // On the x axis, as series, and as plots; 200 of each.
  for (const char *name : {"x", "series", "other"}) {
    BenchRun run;
    ExperimentResult many;
    many.name = "many";
    many.unit = "GB/s";
    many.higherIsBetter = true;
    many.xParameter = "x";
    many.seriesParameter = "series";
    for (int i = 0; i < 200; ++i) {
      Parameters parameters = {{"x", "a"}, {"series", "b"}, {"other", "c"}};
      for (auto &[key, value] : parameters)
        if (key == name)
          value += std::to_string(i);
      measure(addPoint(many, parameters), 10 + i);
    }
    run.experiments = {many};
    unsigned plots = checkPage(run);
    EXPECT_GE(plots, 1u);
    EXPECT_LE(plots, plotPanelLimit);
    PlotSet set = arrangePlots(run.experiments[0]);
    size_t drawn = set.pointsLeftOut;
    for (const PlotPanel &panel : set.panels)
      drawn += panel.points.size();
    EXPECT_EQ(drawn, 200u);
    EXPECT_EQ(StringRef(getPage(run)).contains("no room in the plots"),
              set.pointsLeftOut > 0);
  }
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
    measure(addPoint(sweep, {{"size", size}}), 5);
  PlotSet set = arrangePlots(sweep);
  EXPECT_EQ(set.panels[0].categories,
            (std::vector<std::string>{"16K", "2M", "1G"}));
  EXPECT_EQ(set.panels[0].numbers.front(), 16384);
  measure(addPoint(sweep, {{"size", "all"}}), 5); // no number: categories
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
}

TEST(BenchAxis, measuredNumbersHaveAboutFourDigits) {
  const std::pair<double, const char *> cases[] = {
      {0, "0"},           {46.2712, "46.27"}, {286.13, "286.1"},
      {1033.4, "1033"},   {0.9712, "0.9712"}, {9.1, "9.100"},
      {0.00001, "1e-05"}, {2.5e9, "2.5e9"},   {NAN, "-"},
      {INFINITY, "-"}};
  for (const auto &[value, text] : cases)
    EXPECT_EQ(formatMeasured(value), text);
}

TEST(BenchAxis, labelsAreCutBetweenLetters) {
  EXPECT_EQ(shortLabel("2M", 16), "2M");
  EXPECT_EQ(shortLabel("MALLOC_MMAP_THRESHOLD_", 10), "MALL..OLD_");
  EXPECT_EQ(shortLabel("\xe5\xa4\xa7\xe5\xa4\xa7\xe5\xa4\xa7", 5),
            "\xe5\xa4\xa7..");
  EXPECT_EQ(labelColumns(shortLabel(std::string(100, '\x01'), 16)), 16u);
}
