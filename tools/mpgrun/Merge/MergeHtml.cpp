// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun --merge --html: the report as one page that loads and runs nothing.
// Each region has a picture: how many reports have how much of it on large
// pages.

#include "Support/Format.h"
#include "Support/HtmlPage.h"
#include "mpgrun/Merge/MergeReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxPageOutliers = 1000;

static constexpr StringRef mergeStyle = R"css(
.tenths .all{fill:var(--clean)}.tenths .part{fill:var(--data)}
.tenths .floor{stroke:var(--line)}
td.picture{padding-right:1rem}
)css";

/// A column for each tenth, as high as its part of the reports.
std::string mpg::drawTenths(const MergedRegion &region) {
  std::string text;
  raw_string_ostream out(text);
  constexpr unsigned step = 14, height = 36;
  size_t known = region.reports - region.unknownReports;
  std::string words;
  for (size_t tenth = 0; tenth < region.byTenth.size(); ++tenth)
    if (size_t count = region.byTenth[tenth])
      words += (words.empty() ? "" : "; ") + showCount(count, "report") +
               (tenth == 10 ? " all on large pages"
                            : " " + std::to_string(tenth * 10) + " to " +
                                  std::to_string(tenth * 10 + 10) + " %");
  unsigned width = step * unsigned(region.byTenth.size());
  out << "<svg class=\"tenths\" role=\"img\" aria-label=\"" << escapeHtml(words)
      << "\" width=\"" << width << "\" height=\"" << height + 2
      << "\" viewBox=\"0 0 " << width << " " << height + 2 << "\"><title>"
      << escapeHtml(words) << "</title><line class=\"floor\" x1=\"0\" x2=\""
      << width << "\" y1=\"" << height + 1 << "\" y2=\"" << height + 1
      << "\"/>";
  for (size_t tenth = 0; tenth < region.byTenth.size(); ++tenth) {
    if (!region.byTenth[tenth])
      continue;
    // One report of many is to be seen, too.
    double tall =
        std::max(2.0, height * double(region.byTenth[tenth]) / double(known));
    out << "<rect class=\"" << (tenth == 10 ? "all" : "part") << "\" x=\""
        << step * tenth + 1 << "\" y=\"" << format("%.1f", height - tall)
        << "\" width=\"" << step - 3 << "\" height=\"" << format("%.1f", tall)
        << "\"/>";
  }
  out << "</svg>";
  return text;
}

static void writeRegionTable(raw_ostream &out, const Merge &merge) {
  if (merge.regions.empty())
    return;
  out << "<p>The picture: reports by the part of the region on large pages, "
         "from none on the left to all on the right.</p>\n";
  makeRegionTable(merge).writeHtml(out, "Regions");
}

static void writeOutlierList(raw_ostream &out, const Merge &merge) {
  HtmlSection section(out, "Nodes that differ");
  std::vector<std::string> lines;
  for (const Outlier &outlier :
       ArrayRef(merge.outliers).take_front(maxPageOutliers))
    lines.push_back(showOutlier(outlier));
  if (merge.outliers.size() > maxPageOutliers)
    lines.push_back("and " +
                    showCount(merge.outliers.size() - maxPageOutliers, "node") +
                    " more");
  if (lines.empty())
    writeHtmlText(out, "No node stands out.");
  writeHtmlList(out, lines);
}

static void writeProfileSection(raw_ostream &out,
                                const MergedProfiles &profiles) {
  if (!profiles.profiles)
    return;
  constexpr size_t maxRows = 200;
  HtmlSection section(out, "Objects of the profiles");
  for (const std::string &line : profileLines(profiles))
    writeHtmlText(out, line);
  profileTable(profiles, maxRows).writeHtml(out, "Objects", "row");
}

static void writeMissingList(raw_ostream &out, const Merge &merge) {
  std::vector<std::string> lines = missingLines(merge);
  for (const std::string &line : skippedLines(merge))
    lines.push_back("not merged: " + line);
  if (lines.empty())
    return;
  HtmlSection section(out, "What is missing");
  writeHtmlList(out, lines);
}

void mpg::writeMergeHtml(raw_ostream &out, const Merge &merge) {
  std::string title = mergeTitle(merge);
  beginHtmlPage(out, {"mpgrun " MPG_VERSION, title + " - mpgrun", title,
                      mergeStyle.str()});
  for (const std::string &line : settingLines(merge))
    writeHtmlText(out, line, "facts");
  out << "</header>\n<main>\n";
  writeRegionTable(out, merge);
  writeHtmlList(out, regionLines(merge));
  writeOutlierList(out, merge);
  writeProfileSection(out, merge.profiles);
  writeMissingList(out, merge);
  endHtmlPage(out, "Percentages are rounded down: 100 % is all.");
}
