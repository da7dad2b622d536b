// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds the profiles of the ranks of a job (schema mpgprofile-1): the same
// object of all ranks is one, with sums. Memory grows with the objects, not
// with the ranks.

#ifndef MPG_TOOLS_MPGRUN_MERGE_MERGEPROFILE_H
#define MPG_TOOLS_MPGRUN_MERGE_MERGEPROFILE_H

#include "Process/RunReport.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mpg {

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
  /// Of usedBytes, which were looked at, on large pages; pairs that are known.
  uint64_t usedBytes = 0, hugeBytes = 0;
  size_t shareReports = 0; ///< that know these two
  KnownSum faults, faultMicroseconds, tlbSamples, codeSamples;
};

struct RankProfile {
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

class ProfileFold {
public:
  void add(RankProfile profile);
  /// Once, after the last one.
  MergedProfiles finish();

private:
  MergedProfiles merged;
  llvm::StringMap<size_t> programs;
  llvm::StringMap<size_t> indices; ///< in objects, by all that names one
};

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_MERGE_MERGEPROFILE_H
