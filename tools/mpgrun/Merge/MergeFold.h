// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds the reports of the ranks of a job into one: what they have in common,
// each region over all of them, and the nodes that differ. A report costs a few
// hundred bytes of memory, its texts nothing if another one has them.

#pragma once

#include "Process/RunRegions.h"
#include "Support/Skipped.h"
#include "mpgrun/Merge/MergeProfile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpg {

// MergeReader.cpp: reads the file that one rank of a job left (schemas
// mpgreport-1 and mpgprofile-1). The file may be anybody's: half-written, of
// another program, made to do harm. A part that cannot be used gives a reason,
// never an error.

/// Settings that the ranks of a job usually share.
enum class MergeSetting : uint8_t { program, version, mode, status, libmpg };
constexpr size_t mergeSettingCount = size_t(MergeSetting::libmpg) + 1;

struct RankRegion {
  RunRegion region;
  uint64_t bytes = 0;     ///< in use; at the peak, if that is known
  uint64_t hugeBytes = 0; ///< of these on large pages, at most all
  bool isKnown = true;    ///< false: some may be on large pages or not
  std::string reason;     ///< why not all of it; libmpg's words
};

struct RankReport {
  FilePlace place;
  std::array<std::string, mergeSettingCount> settings; ///< by MergeSetting
  std::vector<RankRegion> regions;                     ///< none twice
  bool hasForeignRegion = false; ///< of a later version; it is left out
};

/// The report or the profile in a file; neither: it cannot be used.
struct RankFile {
  std::optional<RankReport> report;
  std::optional<RankProfile> profile;
};

/// Reads the file \p path. If it cannot be used, \p skip says why. Never waits
/// for a pipe.
RankFile readRankFile(const std::string &path, Skip &skip);

// The result

/// The values of a setting with the number of reports, the most frequent first.
using SettingValues = std::vector<std::pair<std::string, size_t>>;

/// A region over all reports that have memory in it.
struct MergedRegion {
  RunRegion region;
  size_t reports = 0;
  size_t unknownReports = 0; ///< their share is not known
  uint64_t bytes = 0;        ///< sum; stays at the largest number
  uint64_t hugeBytes = 0;    ///< sum
  /// Share on large pages, of the reports that know it; of an even number the
  /// upper median. Absent: none knows it.
  struct Shares {
    uint32_t minMillionths, medianMillionths, maxMillionths;
  };
  std::optional<Shares> shares;
  /// Reports by tenth of the share, [10] those with all on large pages.
  std::array<size_t, 11> byTenth{};
  std::string reason;       ///< the most frequent one; empty: none
  size_t reasonReports = 0; ///< how many gave it
};

struct OutlierRegion {
  RunRegion region;
  std::string object; ///< of profiles: the part of the region; else empty
  std::string reason; ///< of the first file that stands out
  uint64_t bytes = 0, hugeBytes = 0; ///< of all files that do

  uint64_t shortPages() const; ///< of 2 MiB, whole ones
  uint32_t shareMillionths() const;
};

/// A node that differs, with its reports and profiles that do.
struct Outlier {
  std::string node; ///< the file, where it does not name its node
  size_t files = 0, nodeFiles = 0;
  std::optional<uint32_t> rank; ///< of the first of them
  std::vector<std::pair<MergeSetting, std::string>> settings; ///< rare values
  std::vector<OutlierRegion> regions; ///< those that lack most first
};

struct RankGaps {
  uint32_t lowest = 0, highest = 0;
  size_t total = 0;    ///< of the job; not known: up to the highest
  size_t repeated = 0; ///< reports whose rank another report has, too
  size_t missing = 0;  ///< ranks without a report
  std::vector<std::pair<uint32_t, uint32_t>> first; ///< the first such ranges
};

struct Merge {
  size_t files = 0, reports = 0;
  size_t nodes = 0;
  size_t namelessFiles = 0;        ///< that do not name their node
  size_t foreignRegionReports = 0; ///< with regions of a later version
  /// Of the reports; if there are none, of the profiles. Nothing: none names
  /// its rank.
  std::optional<RankGaps> ranks;
  std::array<SettingValues, mergeSettingCount> settings; ///< by MergeSetting
  std::vector<MergedRegion> regions; ///< in the order of RunRegion
  /// Those with rare settings first, then those that lack most.
  std::vector<Outlier> outliers;
  Skipped skipped;
  MergedProfiles profiles;
};

/// Whether a value that \p reports have stands out beside one that \p
/// maxReports have: less than half as many.
inline bool isRare(size_t reports, size_t maxReports) {
  return reports * 2 < maxReports;
}

// The work

/// Each text once, its first 400 bytes.
class TextPool {
public:
  uint32_t add(llvm::StringRef text);
  llvm::StringRef get(uint32_t id) const { return texts[id]; }
  size_t size() const { return texts.size(); }

private:
  llvm::StringMap<uint32_t> ids;
  std::vector<llvm::StringRef> texts;
};

class MergeFold {
public:
  void add(const std::string &path, const RankReport &report);
  void add(const std::string &path, RankProfile profile);
  void skip(const std::string &path, const Skip &skip);
  /// Once, after the last file.
  Merge finish();

private:
  struct Region {
    RunRegion region;
    bool isKnown;
    uint32_t reason; ///< in texts
    uint64_t bytes, hugeBytes;
  };
  struct Place {
    uint32_t node; ///< in nodes
    std::optional<uint32_t> rank;
  };
  struct Report {
    Place place;
    std::array<uint32_t, mergeSettingCount> settings; ///< in texts
    size_t firstRegion, regionCount;                  ///< in regions
  };
  Place addPlace(const std::string &path, const FilePlace &place);
  void foldRanks();
  void foldSettings();
  void foldRegion(RunRegion region);
  /// Fills \p found, by node, with all that differs.
  void findDifferences(std::vector<Outlier> &found);
  void findOutliers();
  /// Both return whether \p report has added something.
  bool addRareSettings(const Report &report, Outlier &outlier) const;
  bool addShortRegions(const Report &report, Outlier &outlier) const;

  Merge merge;
  ProfileFold profiles;
  TextPool texts, nodes;
  std::vector<Report> reports;
  std::vector<Place> profilePlaces; ///< by number of the profile
  uint32_t maxRanks = 0;            ///< the largest number that a file says
  std::vector<Region> regions;
  /// How many reports have the value, by setting and text.
  std::array<std::vector<size_t>, mergeSettingCount> valueReports;
  std::array<size_t, mergeSettingCount> maxReports{}; ///< of its values
  /// Of each region; 0 where no share is known.
  std::array<uint32_t, runRegionCount> medians{};
};

} // namespace mpg
