// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MergeFold.h. Who stands out is known only at the end, so each report
// stays in memory as numbers.

#include "mpgrun/Merge/MergeFold.h"
#include "Node/HugePages.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace mpg;

static constexpr size_t maxTextBytes = 400;
static constexpr size_t maxNamed = 3;  ///< files of each kind
static constexpr size_t maxRanges = 5; ///< of missing ranks

uint32_t TextPool::add(StringRef text) {
  auto [entry, isNew] =
      ids.try_emplace(text.take_front(maxTextBytes), uint32_t(texts.size()));
  if (isNew)
    texts.push_back(entry->getKey());
  return entry->second;
}

uint32_t mpg::getMillionths(uint64_t hugeBytes, uint64_t bytes) {
  if (hugeBytes >= bytes)
    return wholeMillionths;
  auto share = uint32_t(double(hugeBytes) / double(bytes) * wholeMillionths);
  return std::min(share, wholeMillionths - 1);
}

uint64_t OutlierRegion::shortPages() const {
  return (bytes - hugeBytes) / largePageBytes;
}

uint32_t OutlierRegion::shareMillionths() const {
  return getMillionths(hugeBytes, bytes);
}

//===----------------------------------------------------------------------===//
// File by file
//===----------------------------------------------------------------------===//

void MergeFold::skip(const std::string &path, const Skip &skip) {
  ++merge.files;
  SkippedFiles &kind = merge.skipped[size_t(skip.kind)];
  ++kind.count;
  if (kind.first.size() < maxNamed)
    kind.first.emplace_back(path, skip.reason);
}

void MergeFold::add(RankProfile profile) {
  ++merge.files;
  profiles.add(std::move(profile));
}

void MergeFold::add(const std::string &path, const RankReport &report) {
  ++merge.files;
  merge.namelessReports += report.host.empty();
  merge.foreignRegionReports += report.hasForeignRegion;
  Report row;
  // No host has a slash in its name, so none is taken for a file.
  row.node = nodes.add(report.host.empty() ? "/" + path : report.host);
  row.rank = report.rank;
  for (size_t key = 0; key < mergeSettingCount; ++key) {
    uint32_t value = texts.add(report.settings[key]);
    row.settings[key] = value;
    if (valueReports[key].size() <= value)
      valueReports[key].resize(value + 1);
    maxReports[key] = std::max(maxReports[key], ++valueReports[key][value]);
  }
  row.firstRegion = regions.size();
  for (const RankRegion &use : report.regions)
    if (use.bytes)
      regions.push_back({use.region, use.isKnown, texts.add(use.reason),
                         use.bytes, use.hugeBytes});
  row.regionCount = regions.size() - row.firstRegion;
  reports.push_back(row);
}

//===----------------------------------------------------------------------===//
// All reports
//===----------------------------------------------------------------------===//

void MergeFold::foldRanks() {
  std::vector<uint32_t> ranks;
  for (const Report &report : reports)
    if (report.rank)
      ranks.push_back(*report.rank);
  if (ranks.empty())
    return;
  llvm::sort(ranks);
  RankGaps gaps;
  gaps.lowest = ranks.front();
  gaps.highest = ranks.back();
  uint32_t next = 0; // the first rank that was not seen yet
  for (uint32_t rank : ranks) {
    gaps.repeated += rank < next;
    if (rank > next) {
      gaps.missing += rank - next;
      if (gaps.first.size() < maxRanges)
        gaps.first.emplace_back(next, rank - 1);
    }
    next = rank + 1;
  }
  merge.ranks = gaps;
}

void MergeFold::foldSettings() {
  for (size_t key = 0; key < mergeSettingCount; ++key) {
    SettingValues &values = merge.settings[key];
    for (uint32_t id = 0; id < valueReports[key].size(); ++id)
      if (size_t count = valueReports[key][id])
        values.emplace_back(texts.get(id).str(), count);
    llvm::sort(values, [](const auto &left, const auto &right) {
      return left.second != right.second ? left.second > right.second
                                         : left.first < right.first;
    });
  }
}

/// pre: \p shares has one.
static MergedRegion::Shares getShares(std::vector<uint32_t> &shares) {
  auto median = shares.begin() + ptrdiff_t(shares.size() / 2);
  std::nth_element(shares.begin(), median, shares.end());
  return {*std::min_element(shares.begin(), shares.end()), *median,
          *std::max_element(shares.begin(), shares.end())};
}

void MergeFold::foldRegion(RunRegion region) {
  MergedRegion merged;
  merged.region = region;
  std::vector<uint32_t> shares;
  DenseMap<uint32_t, size_t> reasons;
  for (const Region &use : regions) {
    if (use.region != region)
      continue;
    ++merged.reports;
    merged.bytes = SaturatingAdd(merged.bytes, use.bytes);
    merged.hugeBytes = SaturatingAdd(merged.hugeBytes, use.hugeBytes);
    if (use.isKnown)
      shares.push_back(getMillionths(use.hugeBytes, use.bytes));
    if (!texts.get(use.reason).empty())
      ++reasons[use.reason];
  }
  if (merged.reports == 0)
    return;
  merged.unknownReports = merged.reports - shares.size();
  if (!shares.empty()) {
    for (uint32_t share : shares)
      ++merged.byTenth[share / (wholeMillionths / 10)];
    merged.shares = getShares(shares);
    medians[size_t(region)] = merged.shares->medianMillionths;
  }
  // Of equally frequent ones the first that came: the order of a map is none.
  uint32_t best = 0;
  for (auto [reason, count] : reasons)
    if (count > merged.reasonReports ||
        (count == merged.reasonReports && reason < best)) {
      best = reason;
      merged.reasonReports = count;
    }
  if (merged.reasonReports)
    merged.reason = texts.get(best).str();
  merge.regions.push_back(std::move(merged));
}

//===----------------------------------------------------------------------===//
// Nodes that differ
//===----------------------------------------------------------------------===//

bool MergeFold::addRareSettings(const Report &report, Outlier &outlier) const {
  bool hasAny = false;
  for (size_t key = 0; key < mergeSettingCount; ++key) {
    uint32_t value = report.settings[key];
    if (!isRare(valueReports[key][value], maxReports[key]))
      continue;
    hasAny = true;
    std::pair entry(MergeSetting(key), texts.get(value).str());
    if (!is_contained(outlier.settings, entry))
      outlier.settings.push_back(std::move(entry));
  }
  return hasAny;
}

bool MergeFold::addShortRegions(const Report &report, Outlier &outlier) const {
  bool hasAny = false;
  // Ten points below the median: less is what one page more or less makes.
  constexpr uint32_t marginMillionths = wholeMillionths / 10;
  for (const Region &use :
       ArrayRef(regions).slice(report.firstRegion, report.regionCount)) {
    uint32_t share = getMillionths(use.hugeBytes, use.bytes);
    if (!use.isKnown ||
        share + marginMillionths >= medians[size_t(use.region)] ||
        use.bytes - use.hugeBytes < forgivenBytes(use.region))
      continue;
    hasAny = true;
    auto found = find_if(outlier.regions, [&](const OutlierRegion &other) {
      return other.region == use.region;
    });
    if (found == outlier.regions.end())
      found = outlier.regions.insert(
          found, OutlierRegion{use.region, 0, 0, texts.get(use.reason).str()});
    found->bytes = SaturatingAdd(found->bytes, use.bytes);
    found->hugeBytes = SaturatingAdd(found->hugeBytes, use.hugeBytes);
  }
  return hasAny;
}

static uint64_t lackedPages(const Outlier &outlier) {
  return outlier.regions.empty() ? 0 : outlier.regions.front().shortPages();
}

void MergeFold::findOutliers() {
  std::vector<Outlier> found(nodes.size());
  for (const Report &report : reports) {
    Outlier &outlier = found[report.node];
    ++outlier.nodeReports;
    bool hasRare = addRareSettings(report, outlier);
    bool isShort = addShortRegions(report, outlier);
    if ((hasRare || isShort) && ++outlier.reports == 1)
      outlier.rank = report.rank;
  }
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    Outlier &outlier = found[node];
    if (outlier.reports == 0)
      continue;
    // A file has a slash in front.
    StringRef name = nodes.get(node);
    name.consume_front("/");
    outlier.node = name.str();
    llvm::sort(outlier.regions, [](auto &left, auto &right) {
      auto key = [](const OutlierRegion &region) {
        return std::pair(~region.shortPages(), region.region);
      };
      return key(left) < key(right);
    });
    merge.outliers.push_back(std::move(outlier));
  }
  llvm::sort(merge.outliers, [](const Outlier &left, const Outlier &right) {
    auto key = [](const Outlier &outlier) {
      return std::tuple(outlier.settings.empty(), ~lackedPages(outlier),
                        StringRef(outlier.node));
    };
    return key(left) < key(right);
  });
}

Merge MergeFold::finish() {
  merge.reports = reports.size();
  for (uint32_t node = 0; node < nodes.size(); ++node)
    merge.nodes += !nodes.get(node).starts_with("/");
  foldRanks();
  foldSettings();
  for (size_t region = 0; region < runRegionCount; ++region)
    foldRegion(RunRegion(region));
  findOutliers();
  merge.profiles = profiles.finish();
  return std::move(merge);
}
