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
static constexpr size_t maxRanges = 5; ///< of missing ranks

uint32_t TextPool::add(StringRef text) {
  auto [entry, isNew] =
      ids.try_emplace(text.take_front(maxTextBytes), uint32_t(texts.size()));
  if (isNew)
    texts.push_back(entry->getKey());
  return entry->second;
}

uint64_t OutlierRegion::shortPages() const {
  return (bytes - hugeBytes) / largePageBytes;
}

uint32_t OutlierRegion::shareMillionths() const {
  return getMillionths(hugeBytes, bytes);
}

// File by file

void MergeFold::skip(const std::string &path, const Skip &skip) {
  ++merge.files;
  merge.skipped.add(path, skip);
}

MergeFold::Place MergeFold::addPlace(const std::string &path,
                                     const FilePlace &place) {
  ++merge.files;
  merge.namelessFiles += place.host.empty();
  maxRanks = std::max(maxRanks, place.ranks);
  // No host has a slash in its name, so none is taken for a file.
  return {nodes.add(place.host.empty() ? "/" + path : place.host), place.rank};
}

void MergeFold::add(const std::string &path, RankProfile profile) {
  profilePlaces.push_back(addPlace(path, profile.place));
  profiles.add(std::move(profile));
}

void MergeFold::add(const std::string &path, const RankReport &report) {
  merge.foreignRegionReports += report.hasForeignRegion;
  Report row;
  row.place = addPlace(path, report.place);
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

// All reports

void MergeFold::foldRanks() {
  std::vector<uint32_t> ranks;
  auto addRank = [&](const Place &place) {
    if (place.rank)
      ranks.push_back(*place.rank);
  };
  for (const Report &report : reports)
    addRank(report.place);
  if (reports.empty())
    for_each(profilePlaces, addRank);
  if (ranks.empty())
    return;
  llvm::sort(ranks);
  RankGaps gaps;
  gaps.lowest = ranks.front();
  gaps.highest = ranks.back();
  gaps.total = std::max(gaps.highest + 1, maxRanks);
  uint32_t next = 0; // the first rank that was not seen yet
  auto skipTo = [&](uint32_t rank) {
    if (rank <= next)
      return;
    gaps.missing += rank - next;
    if (gaps.first.size() < maxRanges)
      gaps.first.emplace_back(next, rank - 1);
  };
  for (uint32_t rank : ranks) {
    gaps.repeated += rank < next;
    skipTo(rank);
    next = rank + 1;
  }
  skipTo(uint32_t(gaps.total));
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

// Nodes that differ

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

/// Adds \p shortage of one file to those of its node.
static void addShortage(Outlier &outlier, OutlierRegion shortage) {
  for (OutlierRegion &other : outlier.regions)
    if (other.region == shortage.region && other.object == shortage.object) {
      other.bytes = SaturatingAdd(other.bytes, shortage.bytes);
      other.hugeBytes = SaturatingAdd(other.hugeBytes, shortage.hugeBytes);
      return;
    }
  outlier.regions.push_back(std::move(shortage));
}

bool MergeFold::addShortRegions(const Report &report, Outlier &outlier) const {
  bool hasAny = false;
  for (const Region &use :
       ArrayRef(regions).slice(report.firstRegion, report.regionCount)) {
    if (!use.isKnown || !lacksPages(use.region, use.bytes, use.hugeBytes) ||
        !isBelowMedian(use.bytes, use.hugeBytes, medians[size_t(use.region)]))
      continue;
    hasAny = true;
    addShortage(outlier, {use.region, "", texts.get(use.reason).str(),
                          use.bytes, use.hugeBytes});
  }
  return hasAny;
}

/// Counts a file of \p outlier's node, from \p rank.
static void countFile(Outlier &outlier, bool differs,
                      std::optional<uint32_t> rank) {
  ++outlier.nodeFiles;
  if (differs && ++outlier.files == 1)
    outlier.rank = rank;
}

void MergeFold::findDifferences(std::vector<Outlier> &found) {
  for (const Report &report : reports) {
    Outlier &outlier = found[report.place.node];
    bool hasRare = addRareSettings(report, outlier);
    bool isShort = addShortRegions(report, outlier);
    countFile(outlier, hasRare || isShort, report.place.rank);
  }
  std::vector<ObjectShortage> shortages = profiles.findShortages();
  auto next = shortages.begin();
  for (size_t profile = 0; profile < profilePlaces.size(); ++profile) {
    const Place &place = profilePlaces[profile];
    auto first = next;
    for (; next != shortages.end() && next->profile == profile; ++next)
      addShortage(found[place.node], {next->region, std::move(next->name), "",
                                      next->bytes, next->hugeBytes});
    countFile(found[place.node], next != first, place.rank);
  }
}

void MergeFold::findOutliers() {
  std::vector<Outlier> found(nodes.size());
  findDifferences(found);
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    Outlier &outlier = found[node];
    if (outlier.files == 0)
      continue;
    // A file has a slash in front.
    StringRef name = nodes.get(node);
    name.consume_front("/");
    outlier.node = name.str();
    llvm::sort(outlier.regions, [](auto &left, auto &right) {
      auto key = [](const OutlierRegion &region) {
        return std::tuple(~region.shortPages(), region.region,
                          StringRef(region.object));
      };
      return key(left) < key(right);
    });
    merge.outliers.push_back(std::move(outlier));
  }
  llvm::sort(merge.outliers, [](const Outlier &left, const Outlier &right) {
    auto key = [](const Outlier &outlier) {
      uint64_t lacked =
          outlier.regions.empty() ? 0 : outlier.regions.front().shortPages();
      return std::tuple(outlier.settings.empty(), ~lacked,
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
