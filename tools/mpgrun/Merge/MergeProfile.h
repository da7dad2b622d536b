// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds the profiles of the ranks of a job (schema mpgprofile-1): the same
// object of all ranks is one, with sums. A profile costs 4 bytes of memory for
// each object, and 32 where the object lacks large pages.

#pragma once

#include "Process/RunRegions.h"
#include "llvm/ADT/StringMap.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

// For reports and profiles of mpgrun --merge: where a file comes from, and when
// its memory stands out.

/// As far as the file says it.
struct FilePlace {
  std::string host; ///< empty: not known
  std::optional<uint32_t> rank;
  uint32_t ranks = 0; ///< of the job; 0: not known
};

constexpr uint32_t wholeMillionths = 1000000;

/// Never 100 % while a byte is missing.
inline uint32_t getMillionths(uint64_t hugeBytes, uint64_t bytes) {
  if (hugeBytes >= bytes)
    return wholeMillionths;
  auto share = uint32_t(double(hugeBytes) / double(bytes) * wholeMillionths);
  return std::min(share, wholeMillionths - 1);
}

/// Whether \p bytes, of which \p hugeBytes are on large pages, lack so many
/// that they may stand out.
inline bool lacksPages(RunRegion region, uint64_t bytes, uint64_t hugeBytes) {
  return bytes >= hugeBytes && bytes - hugeBytes >= forgivenBytes(region);
}

/// Whether their share is ten points below the median, which \p median is in
/// millionths: less is what one page more or less makes.
inline bool isBelowMedian(uint64_t bytes, uint64_t hugeBytes, uint32_t median) {
  return getMillionths(hugeBytes, bytes) + wholeMillionths / 10 < median;
}

/// A sum over ranks, and how many of them know their part.
struct KnownSum {
  uint64_t sum = 0;
  size_t reports = 0;

  void add(std::optional<uint64_t> value);
  void add(const KnownSum &other);
};

/// An object in one profile or, with sums, in several.
struct RankObject {
  RunRegion region = RunRegion::mmap;
  std::string name, file;
  std::vector<std::string> callers; ///< from the inside out
  size_t reports = 1;
  uint64_t peakBytes = 0;
  /// Bytes that were looked at, and of them on large pages, if both are known.
  uint64_t usedBytes = 0, hugeBytes = 0;
  size_t shareReports = 0; ///< that know these two
  KnownSum faults, faultMicroseconds, tlbSamples, codeSamples;
};

struct RankProfile {
  FilePlace place;
  std::string program;
  KnownSum faults, codeSamples; ///< of all of the program
  std::vector<RankObject> objects;
};

struct MergedProfiles {
  size_t profiles = 0;
  /// Each program with its profiles, the most frequent first.
  std::vector<std::pair<std::string, size_t>> programs;
  KnownSum faults, codeSamples;
  std::vector<RankObject> objects; ///< the largest sum of peaks first
  size_t objectsLost = 0;          ///< entries that had no room
};

/// An object that has less on large pages in one profile than in the others.
struct ObjectShortage {
  size_t profile; ///< its number in the order of add()
  RunRegion region;
  std::string name;
  uint64_t bytes, hugeBytes;
};

class ProfileFold {
public:
  void add(RankProfile profile);
  /// After the last one, in their order.
  std::vector<ObjectShortage> findShortages();
  /// Once, at the end.
  MergedProfiles finish();

private:
  struct Lack {
    size_t profile, object;
    uint64_t bytes, hugeBytes;
  };
  void addShare(const RankObject &object, size_t index);

  MergedProfiles merged;
  llvm::StringMap<size_t> programs;
  llvm::StringMap<size_t> indices; ///< in objects, by all that names one
  /// By object, in millionths, of the profiles that know it.
  std::vector<std::vector<uint32_t>> shares;
  std::vector<Lack> lacks; ///< what may stand out
};

} // namespace mpg
