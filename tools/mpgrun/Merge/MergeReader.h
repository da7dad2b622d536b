// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the file that one rank of a job left (schemas mpgreport-1 and
// mpgprofile-1). The file may
// be anybody's: half-written, of another program, made to do harm. What cannot
// be used is a reason, never an error.

#ifndef MPG_TOOLS_MPGRUN_MERGE_MERGEREADER_H
#define MPG_TOOLS_MPGRUN_MERGE_MERGEREADER_H

#include "Process/RunRegions.h"
#include "Support/Skipped.h"
#include "mpgrun/Merge/MergeProfile.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

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

} // namespace mpg

#endif // MPG_TOOLS_MPGRUN_MERGE_MERGEREADER_H
