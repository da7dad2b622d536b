// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of mpgrun --merge for people.

#include "Support/Format.h"
#include "mpgrun/Merge/MergeReport.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace mpg;

static constexpr size_t maxOutliers = 10;
static constexpr size_t maxValues = 3; ///< of a setting

static std::string showNumber(size_t count) { return formatv("{0:N}", count); }

/// "mode thp", "ended by signal 9".
static std::string showSetting(MergeSetting key, StringRef value) {
  switch (key) {
  case MergeSetting::program:
    return "program " + value.str();
  case MergeSetting::version:
    return "mpgtools " +
           (value == "unknown" ? "of a version not known" : value.str());
  case MergeSetting::mode:
    return "mode " + value.str();
  case MergeSetting::status:
    if (value.consume_front("-"))
      return "ended by signal " + value.str();
    return "status " + value.str();
  case MergeSetting::libmpg:
    return "libmpg " + value.str();
  }
  return value.str();
}

/// "12 %", rounded down: 100 % is all.
static std::string showShare(uint32_t millionths) {
  return std::to_string(millionths / (wholeMillionths / 100)) + " %";
}

/// In a line of text.
static std::string showObject(const std::string &name) {
  return shortLabel(name, 50);
}

static void writeLine(raw_ostream &out, const std::string &text,
                      unsigned indent = 2) {
  writeFilled(out, std::string(indent, ' '), printable(text), indent + 2);
}

// Common settings

std::string mpg::mergeTitle(const Merge &merge) {
  std::string text = showCount(merge.reports, "report");
  std::string profiles = showCount(merge.profiles.profiles, "profile");
  if (!merge.reports && merge.profiles.profiles)
    text = profiles;
  else if (merge.profiles.profiles)
    text += " and " + profiles;
  if (merge.nodes)
    text += " of " + showCount(merge.nodes, "node");
  if (merge.ranks && merge.ranks->highest > 0)
    text += ", ranks " + std::to_string(merge.ranks->lowest) + " to " +
            std::to_string(merge.ranks->highest);
  return text;
}

/// Values that stand out are those of outliers.
static std::string showValues(MergeSetting key, const SettingValues &values) {
  if (values.size() == 1)
    return showSetting(key, values.front().first);
  std::string text;
  size_t shown = 0;
  for (const auto &[value, reports] : values) {
    bool isUsual = !isRare(reports, values.front().second);
    if (!isUsual || shown == maxValues)
      break;
    text += (shown++ ? ", " : "") + showSetting(key, value) + " (" +
            showCount(reports, "report") + ")";
  }
  if (shown < values.size())
    text += ", " + showCount(values.size() - shown, "other");
  return text;
}

std::vector<std::string> mpg::settingLines(const Merge &merge) {
  std::string common;
  std::vector<std::string> lines;
  for (size_t key = 0; key < mergeSettingCount; ++key) {
    std::string text = showValues(MergeSetting(key), merge.settings[key]);
    if (merge.settings[key].size() == 1)
      common += (common.empty() ? "" : ", ") + text;
    else
      lines.push_back("differs: " + text);
  }
  if (!common.empty())
    lines.insert(lines.begin(), "all: " + common);
  return lines;
}

// Regions

Table mpg::makeRegionTable(const Merge &merge) {
  Table table({"region", "size|reports", "size|min", "size|median", "size|max",
               "size|in use", "size|on large pages"});
  table.addPicture("none ... all");
  for (const MergedRegion &region : merge.regions) {
    std::vector<std::string> cells = {regionName(region.region).str(),
                                      showNumber(region.reports)};
    if (const auto &shares = region.shares) {
      for (uint32_t share : {shares->minMillionths, shares->medianMillionths,
                             shares->maxMillionths})
        cells.push_back(showShare(share));
    } else {
      cells.insert(cells.end(), 3, "not known");
    }
    append_values(cells, formatBytes(region.bytes),
                  formatBytes(region.hugeBytes), "");
    table.addRow(std::move(cells));
    if (region.shares)
      table.setMarkup(7, drawTenths(region));
  }
  return table;
}

/// Only where most of a region is on normal pages on most nodes.
static bool isReasonWorthIt(const MergedRegion &region) {
  constexpr uint64_t minBytes = 4 << 20; // a report
  return region.reasonReports && region.shares &&
         region.shares->medianMillionths < wholeMillionths / 2 &&
         region.bytes / region.reports >= minBytes;
}

std::vector<std::string> mpg::regionLines(const Merge &merge) {
  std::vector<std::string> lines;
  for (const MergedRegion &region : merge.regions)
    if (region.unknownReports && region.shares)
      lines.push_back(regionName(region.region).str() + ": " +
                      showCount(region.unknownReports, "report") +
                      " without a known share");
  for (const MergedRegion &region : merge.regions)
    if (isReasonWorthIt(region))
      lines.push_back(regionName(region.region).str() + ": " + region.reason +
                      " (" + showCount(region.reasonReports, "report") + ")");
  return lines;
}

// Nodes that differ

/// "c17", "c17, rank 68", "c17, 3 of 4 files".
static std::string showPlace(const Outlier &outlier) {
  if (outlier.files == outlier.nodeFiles)
    return outlier.node;
  if (outlier.files == 1 && outlier.rank)
    return outlier.node + ", rank " + std::to_string(*outlier.rank);
  return outlier.node + ", " + showNumber(outlier.files) + " of " +
         showCount(outlier.nodeFiles, "file");
}

/// "bss", "bss table".
static std::string showMemory(const OutlierRegion &region) {
  std::string name = regionName(region.region).str();
  return region.object.empty() ? name : name + " " + showObject(region.object);
}

/// "3 % of bss on large pages, 812 pages of 2 MiB short: no free pages"
static std::string showShortage(ArrayRef<OutlierRegion> regions) {
  const OutlierRegion &worst = regions.front();
  std::string text = showShare(worst.shareMillionths()) + " of " +
                     showMemory(worst) + " on large pages, " +
                     showCount(worst.shortPages(), "page") + " of 2 MiB short";
  constexpr size_t maxOthers = 3; // a profile has many objects
  std::vector<std::string> others;
  for (const OutlierRegion &region : regions.drop_front().take_front(maxOthers))
    others.push_back(showMemory(region));
  if (regions.size() > maxOthers + 1)
    others.push_back(showNumber(regions.size() - maxOthers - 1) + " more");
  if (!others.empty())
    text += " (also " + join(others, ", ") + ")";
  return worst.reason.empty() ? text : text + ": " + worst.reason;
}

std::string mpg::showOutlier(const Outlier &outlier) {
  std::vector<std::string> parts;
  for (const auto &[key, value] :
       ArrayRef(outlier.settings).take_front(mergeSettingCount))
    parts.push_back(showSetting(key, value));
  if (!outlier.regions.empty())
    parts.push_back(showShortage(outlier.regions));
  return showPlace(outlier) + ": " + join(parts, "; ");
}

static void writeOutliers(raw_ostream &out, const Merge &merge) {
  if (merge.outliers.empty()) {
    out << "  no node stands out\n";
    return;
  }
  ArrayRef<Outlier> outliers = merge.outliers;
  out << "  nodes that differ: " << showNumber(outliers.size()) << "\n";
  for (const Outlier &outlier : outliers.take_front(maxOutliers))
    writeLine(out, showOutlier(outlier), 4);
  if (outliers.size() > maxOutliers)
    out << "    and " << showNumber(outliers.size() - maxOutliers) << " more\n";
}

// Missing files

/// "17, 30 to 33 and more"
static std::string showRanges(const RankGaps &gaps) {
  std::string text;
  size_t shown = 0;
  for (auto [first, last] : gaps.first) {
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first)
      text += " to " + std::to_string(last);
    shown += size_t(last) - first + 1;
  }
  return shown < gaps.missing ? text + " and more" : text;
}

std::vector<std::string> mpg::missingLines(const Merge &merge) {
  std::vector<std::string> lines;
  bool isParallel = merge.ranks && merge.ranks->total > 1;
  std::string file = merge.reports ? "report" : "profile"; // see Merge::ranks
  if (isParallel && merge.ranks->missing)
    lines.push_back("no " + file + " of " +
                    showCount(merge.ranks->missing, "rank") + ": " +
                    showRanges(*merge.ranks));
  if (isParallel && merge.ranks->repeated)
    lines.push_back(showCount(merge.ranks->repeated, file) +
                    " of ranks that have one already: these are of several "
                    "runs");
  if (merge.namelessFiles)
    lines.push_back(showCount(merge.namelessFiles, "file") +
                    " without the name of the node, of an older mpgrun");
  if (merge.foreignRegionReports)
    lines.push_back(showCount(merge.foreignRegionReports, "report") +
                    " with regions that only a newer mpgrun knows");
  return lines;
}

// Profiles

std::vector<std::string> mpg::profileLines(const MergedProfiles &profiles) {
  std::string text = "profiles: " + showNumber(profiles.profiles) + " of ";
  size_t shown = 0;
  for (const auto &[program, count] :
       ArrayRef(profiles.programs).take_front(maxValues))
    text +=
        (shown++ ? ", " : "") + program +
        (profiles.programs.size() > 1 ? " (" + showNumber(count) + ")" : "");
  if (shown < profiles.programs.size())
    text += ", " + showCount(profiles.programs.size() - shown, "other");
  if (profiles.faults.reports)
    text += "; " + showCount(profiles.faults.sum, "page fault");
  std::vector<std::string> lines = {text};
  if (profiles.objectsLost)
    lines.push_back("not in the sums, because there are too many objects: " +
                    showCount(profiles.objectsLost, "entry"));
  return lines;
}

/// The sum, "-" if nobody knows it, with a + if not all do.
static std::string showSum(const KnownSum &value, size_t reports) {
  if (!value.reports)
    return "-";
  return showNumber(value.sum) + (value.reports < reports ? "+" : "");
}

Table mpg::profileTable(const MergedProfiles &profiles, size_t maxRows) {
  Table table({"region", "object", "size|profiles", "size|in use", "size|large",
               "size|faults", "size|faults' ms", "size|TLB misses",
               "size|samples"});
  for (const RankObject &object :
       ArrayRef(profiles.objects).take_front(maxRows)) {
    KnownSum milliseconds = object.faultMicroseconds;
    milliseconds.sum /= 1000;
    std::string name = object.name;
    if (!object.callers.empty())
      name += ", from " + object.callers.front();
    std::string share = "-";
    if (object.shareReports)
      share = showShare(getMillionths(object.hugeBytes, object.usedBytes));
    table.addRow({regionName(object.region).str(), showObject(name),
                  showNumber(object.reports), formatBytes(object.peakBytes),
                  share, showSum(object.faults, object.reports),
                  showSum(milliseconds, object.reports),
                  showSum(object.tlbSamples, object.reports),
                  showSum(object.codeSamples, object.reports)});
  }
  return table;
}

static void writeProfiles(raw_ostream &out, const MergedProfiles &profiles) {
  constexpr size_t maxRows = 20;
  for (const std::string &line : profileLines(profiles))
    writeLine(out, line);
  profileTable(profiles, maxRows).write(out, /*indent=*/2);
  if (profiles.objects.size() > maxRows)
    writeLine(out, "and " + showCount(profiles.objects.size() - maxRows,
                                      "smaller object"));
}

std::vector<std::string> mpg::skippedLines(const Merge &merge) {
  return merge.skipped.describe("file", "not reports of mpgrun");
}

static void writeSkipped(raw_ostream &out, const Merge &merge) {
  if (merge.skipped.count() == 0)
    return;
  out << "  not merged: " << showNumber(merge.skipped.count()) << " of "
      << showCount(merge.files, "file") << "\n";
  for (const std::string &line : skippedLines(merge))
    writeLine(out, line, 4);
}

void mpg::writeMergeText(raw_ostream &out, const Merge &merge) {
  out << "mpgrun: merged " << mergeTitle(merge) << "\n";
  auto writeLines = [&](const std::vector<std::string> &lines) {
    for (const std::string &line : lines)
      writeLine(out, line);
  };
  if (merge.reports) {
    writeLines(settingLines(merge));
    if (!merge.regions.empty())
      makeRegionTable(merge).write(out, /*indent=*/2);
    writeLines(regionLines(merge));
  }
  if (merge.profiles.profiles)
    writeProfiles(out, merge.profiles);
  if (merge.reports || merge.profiles.profiles)
    writeOutliers(out, merge);
  writeLines(missingLines(merge));
  writeSkipped(out, merge);
}
