// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgsim --html: one page that can be mailed and opened anywhere, as those of
// mpgaudit and mpgbench are. It loads nothing and runs nothing. In front stands
// what it comes to, then the pictures, then the numbers.

#include "Plot/PlotPanel.h"
#include "SimReport.h"
#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// More rows make no table that is read; JSON has all.
static constexpr size_t rowLimit = 100;
/// Of names: a page has room for whole signatures, but not for any length.
static constexpr size_t longestName = 100;
/// From here on an axis is logarithmic.
static constexpr double widestLinear = 20;

/// The middle of an interval, which is drawn if it is one.
static void setValue(PlotPoint &point, const SimInterval &interval) {
  point.value = (double(interval.min) + double(interval.max)) / 2;
  point.isHollow = interval.max == 0;
  if (interval.min != interval.max)
    point.interval = {double(interval.min), double(interval.max)};
}

/// A plot of one panel, with its own axis.
static Plot makePlot(StringRef id, StringRef caption, StringRef unit,
                     PlotPanel panel) {
  ValueRange range;
  range.add(panel);
  range.max = std::max(range.max, 1.0);
  return {id.str(), "<strong>" + escapeHtml(caption) + "</strong>",
          std::move(panel), range.axis(widestLinear), unit.str()};
}

static void writePageHead(raw_ostream &out, const SimReport &report) {
  std::string program = report.command[0];
  beginHtmlPage(out,
                {"mpgsim " MPG_VERSION, program + " - mpgsim",
                 "What " + program + " would miss on " + report.machine.name,
                 plotStyle().str() + ".page{white-space:nowrap}\n",
                 plotShapes().str()});
  out << "<p>";
  for (const std::string &word : report.command)
    out << "<code>" << escapeHtml(word) << "</code> ";
  out << describeEnding(report.ending)
      << (WIFSIGNALED(report.ending.waitStatus) ? ": results so far" : "")
      << ". " << describeCores(report) << ", "
      << shortCount(report.all.accesses) << " loads and stores of "
      << formatBytes(report.accessedBytes) << ".</p>\n";
  for (const auto &[title, text] : {std::pair("Sample", describeSample(report)),
                                    {"Ranks", describeRanks(report)}})
    if (!text.empty())
      writeHtmlText(out, title + (": " + text + "."));
  std::string missing = describeMissingPart(report);
  if (!missing.empty())
    out << "<p><span class=\"badge warning\">incomplete</span> "
        << escapeHtml(missing) << ".</p>\n";
  out << "<p class=\"verdict\"><span class=\"badge note\">modelled</span> "
      << escapeHtml(describeVerdict(report)) << ".</p>\n";
  for (const auto &[title, text] :
       {std::pair("Sector cache", describeQuotaVerdict(report)),
        {"Placement", describePlacementVerdict(report)}})
    if (!text.empty())
      writeHtmlText(out, title + (": " + text + "."), "verdict");
  out << "</header>\n";
}

/// Misses of each of \p levels over the size of a page.
static Plot
makeMissPlot(const SimReport &report, StringRef id, StringRef what,
             size_t firstSeries, ArrayRef<std::string> levels,
             function_ref<SimInterval(const SimPageCounts &, size_t)> of) {
  PlotPanel panel;
  panel.xName = "page size";
  for (size_t at = 0; at < report.all.pages.size(); ++at) {
    const SimPageCounts &page = report.all.pages[at];
    panel.categories.push_back(formatBytes(page.pageBytes));
    panel.numbers.push_back(double(page.pageBytes));
    for (size_t level = 0; level < levels.size(); ++level) {
      PlotPoint point;
      point.name =
          levels[level] + ", " + formatBytes(page.pageBytes) + " pages";
      point.series = firstSeries + level;
      point.category = at;
      setValue(point, of(page, level));
      panel.points.push_back(point);
    }
  }
  return makePlot(id, what.str() + " misses by page size", "misses",
                  std::move(panel));
}

static void writePages(raw_ostream &out, const SimReport &report) {
  std::vector<std::string> tlbs = getNames(report.machine.tlbs),
                           caches = getNames(report.machine.caches);
  HtmlSection section(out, "Page sizes", "pages");
  std::vector<Plot> plots;
  if (!tlbs.empty())
    plots.push_back(makeMissPlot(report, "plot-tlb", "TLB", 0, tlbs,
                                 [](const SimPageCounts &page, size_t level) {
                                   uint64_t misses = page.tlbMisses[level];
                                   return SimInterval{misses, misses};
                                 }));
  plots.push_back(makeMissPlot(report, "plot-cache", "Cache", tlbs.size(),
                               caches,
                               [](const SimPageCounts &page, size_t level) {
                                 return page.cacheMisses[level];
                               }));
  PlotLegend legend = {tlbs, "least and most of the maps of physical pages",
                       "none"};
  append_range(legend.series, caches);
  writePlots(out, plots, legend);
  pagesTable(report).writeHtml(out, "Misses of each page size", "page");
  writeHtmlText(out, "Bands: " + describeBands(report) + ".", "muted");
}

/// Traffic over the ways of sector 1. The legend says what it is undivided.
static void writeTrafficPlot(raw_ostream &out, const SimReport &report) {
  PlotLegend legend;
  PlotPanel panel;
  panel.xName = "ways of sector 1";
  for (const SimQuota &quota : drop_begin(report.quotas)) {
    panel.categories.push_back(std::to_string(quota.ways));
    panel.numbers.push_back(double(quota.ways));
  }
  for (size_t series = 0; series < report.all.pages.size(); ++series) {
    auto traffic = [&](const SimQuota &quota) {
      return double(trafficBytes(report, quota.pages[series])) / (1 << 20);
    };
    PlotPoint point;
    point.name = formatBytes(report.all.pages[series].pageBytes) + " pages";
    point.series = series;
    legend.series.push_back(point.name + ", not divided: " +
                            formatFigure(traffic(report.quotas[0])) + " MiB");
    for (const SimQuota &quota : drop_begin(report.quotas)) {
      point.value = traffic(quota);
      panel.points.push_back(point);
      ++point.category;
    }
  }
  writePlots(out,
             makePlot("plot-ways", "Traffic to memory by ways of sector 1",
                      "MiB", std::move(panel)),
             legend);
}

static void writeQuotas(raw_ostream &out, const SimReport &report) {
  if (report.quotas.size() < 2)
    return;
  const std::string &cache = report.machine.caches[report.divided.level].name;
  HtmlSection section(out, "Ways of " + cache + " for sector 1", "sectors");
  out << "<p>Sector 1 has";
  for (const std::string &name : report.stream)
    out << " <code>" << escapeHtml(name) << "</code>";
  out << ".</p>\n";
  writeTrafficPlot(out, report);
  quotasTable(report).writeHtml(out, "What each division misses", "page");
}

/// Cache columns are those of the smallest pages.
static void writePartsSection(raw_ostream &out, const SimReport &report,
                              const SimParts &parts) {
  std::string id = parts.title.str() + "s", title = id;
  title[0] = toUpper(title[0]);
  HtmlSection section(out, title, id);
  partsTable(report, parts, rowLimit, longestName, /*isWhole=*/true)
      .writeHtml(out, title, "", /*isCode=*/true);
  for (const SimPart &part : parts.parts)
    if (std::string use = describeSparseUse(report, part); !use.empty())
      out << "<p>" << htmlCode(parts.getName(part, longestName)) << ": " << use
          << ".</p>\n";
  if (parts.parts.size() > rowLimit)
    out << "<p class=\"muted\">" << parts.parts.size() - rowLimit
        << " more with fewer misses are in the JSON.</p>\n";
}

/// Of each array, what share of its traffic stays in its core group.
static void writePlacements(raw_ostream &out, const SimReport &report) {
  if (describePlacementVerdict(report).empty())
    return;
  HtmlSection section(out,
                      "Local traffic with " +
                          formatBytes(advisedPage(report.all.pages).pageBytes) +
                          " pages",
                      "placement");
  Table table({"array", "size|lines to and from memory"});
  for (StringRef name : placementNames)
    table.addNumber(("local, " + name).str());
  for (const SimPart &part : report.arrays) {
    const std::vector<SimLocality> &places =
        advisedPage(part.counts.pages).placements;
    if (!places.front().moved)
      continue;
    std::vector<std::string> row = {arrayName(part, longestName),
                                    shortCount(places.front().moved)};
    for (const SimLocality &lines : places)
      row.push_back(formatv("{0:f1} %", lines.percent()).str());
    table.addRow(row);
  }
  table.writeHtml(out, "Local traffic by array", "", /*isCode=*/true);
}

/// Of the arrays with most misses: row by row what of their 2 MiB is used.
static void writeHeat(raw_ostream &out, const SimReport &report) {
  static constexpr size_t max = 6;
  std::vector<const SimPart *> arrays;
  for (const SimPart &part : report.arrays)
    if (!part.heat.rows.empty() && arrays.size() < max)
      arrays.push_back(&part);
  if (arrays.empty())
    return;
  HtmlSection section(out, "Which parts of 2 MiB pages are used", "heat");
  out << "<p>A row is one page of 2 MiB, or several by address; from left to "
         "right its 32 parts of 64 KiB, the stronger the colour the more of "
         "their 4 KiB have an access. What is pale is taken by large pages in "
         "vain.</p>\n"
         "<div class=\"plots\">\n";
  for (size_t at = 0; at < arrays.size(); ++at) {
    const SimPart *part = arrays[at];
    std::string id = "heat-" + std::to_string(at);
    out << "<figure>\n<figcaption id=\"" << id << "\"><strong><code>"
        << escapeHtml(arrayName(*part, longestName)) << "</code></strong>, "
        << countWord(part->use.of2M, "page") << ", "
        << formatv("{0:f1} %",
                   100 * double(part->use.of4K) / double(part->use.of2M * 512))
        << " used; " << countWord(part->heat.pagesEach, "page")
        << " a row</figcaption>\n";
    writeHeatMap(out, part->heat.rows, id);
    out << "</figure>\n";
  }
  out << "</div>\n";
  writeHeatKeys(out);
}

static void writeGaps(raw_ostream &out, const SimReport &report) {
  std::vector<std::string> gaps = findGaps(report);
  if (gaps.empty())
    return;
  HtmlSection section(out, "Not seen", "gaps");
  writeHtmlList(out, gaps);
}

void mpg::writeSimHtml(raw_ostream &out, const SimReport &report) {
  writePageHead(out, report);
  out << "<main>\n";
  if (report.all.accesses) {
    writePages(out, report);
    writeQuotas(out, report);
    writePlacements(out, report);
    writePartsSection(out, report, listArrays(report));
    writeHeat(out, report);
    writePartsSection(out, report, listLoops(report));
  }
  writeGaps(out, report);
  endHtmlPage(out, "mpgsim " MPG_VERSION
                   ". All counts are modelled, not measured. Cache misses of "
                   "arrays and loops are those of the smallest pages; a walk "
                   "is a miss in the last TLB.");
}
