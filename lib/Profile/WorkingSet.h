// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that a program uses from second to second, by the processor's
// accessed bits: /proc/PID/clear_refs clears them, /proc/PID/smaps counts
// them. The owner of the process may use both, on any kernel with
// CONFIG_PROC_PAGE_MONITOR. smaps counts by mapping, so libmpg makes 2 MiB
// frames of large blocks separate mappings
// (runtime/src/base/AllocationSites).
//
// Not taken: idle page tracking and DAMON, which know single pages, but are for
// root, and are in neither Debian 12's kernels nor others that were at hand.

#ifndef MPG_PROFILE_WORKINGSET_H
#define MPG_PROFILE_WORKINGSET_H

#include "Process/Smaps.h"
#include "mpg/profile.h"
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mpg {

/// Sums over intervals, to be divided by their number. Bytes are those of base
/// pages; what lies on large ones is not counted.
struct AccessCount {
  uint64_t intervals = 0;
  uint64_t bytes = 0;         ///< addresses
  uint64_t presentBytes = 0;  ///< of these with memory
  uint64_t accessedBytes = 0; ///< of these accessed
  uint64_t foreignBytes = 0;  ///< of bytes: known by their mapping's share
  /// 2 MiB frames that are known one by one and have memory, and of these those
  /// with an access: by quarters of the frame that were accessed.
  uint64_t frames = 0;
  std::array<uint64_t, 4> hotFrames = {};
  uint64_t accessedInFrames = 0; ///< bytes

  /// All but the intervals: those of parts are the same, or one after another.
  void addSums(const AccessCount &other);
  /// Adds memory beside this one, which may have been there in fewer intervals
  /// or more.
  void addPart(AccessCount part);
  uint64_t allHotFrames() const;
  bool isOfMapping() const { return foreignBytes * 2 > bytes; }

  // All in percent; of no frame they are nothing.
  std::optional<double> hotFramePercent() const;
  /// Of the frames that were accessed, how much was not (page skew).
  std::optional<double> skewPercent() const;
  /// Memory that large pages would add to accessed bytes, in an interval.
  std::optional<uint64_t> hotBloatBytes() const;

private:
  void spreadOver(uint64_t wanted);
};

class WorkingSet {
public:
  /// \p tableFd: where libmpg writes its blocks, or below zero.
  explicit WorkingSet(int tableFd) : tableFd(tableFd) {}

  void start();
  /// Whether an interval is over.
  bool isDue() const;
  /// Ends an interval and begins the next; one at the program's \p end only
  /// where it says something.
  void inspect(pid_t pid, bool atEnd);

  AccessCount atSite(uint32_t site) const;
  /// Accesses to addresses outside of blocks.
  AccessCount within(uint64_t start, uint64_t end) const;
  unsigned intervals() const { return looks; }
  /// Of an interval. pre: there are some.
  double meanSeconds() const { return seconds / looks; }
  /// Why nothing is known; empty: it is.
  std::string missing() const;

private:
  /// New memory counts as accessed, because something filled it: an interval in
  /// which memory grew counts only if there is no other.
  struct Sums {
    AccessCount settled, filling;
    void add(const AccessCount &interval, bool isFilling);
    const AccessCount &best() const {
      return settled.intervals ? settled : filling;
    }
  };
  /// A mapping, or its part outside of blocks.
  struct Piece {
    uint64_t end = 0;
    uint64_t presentBytes = 0; ///< at the end of the last interval
    unsigned lookedAt = 0;     ///< in which it was there
    Sums sums;
  };
  void addAreas(const std::vector<MappedArea> &areas);
  void addBlocks(const std::vector<mpg_profile_block> &blocks,
                 const std::vector<AccessCount> &counts);
  void addOther(const MappedArea &area, uint64_t bytes);

  int tableFd;
  double begin = 0, due = 0; ///< by nowSeconds()
  double seconds = 0;        ///< of all intervals
  unsigned looks = 0;
  std::string problem;
  /// Memory of blocks by their addresses, at the end of the last interval.
  std::map<uint64_t, uint64_t> presentBytes;
  std::map<uint32_t, Sums> sites;
  std::map<uint64_t, Piece> others; ///< by first address
};

} // namespace mpg

#endif // MPG_PROFILE_WORKINGSET_H
