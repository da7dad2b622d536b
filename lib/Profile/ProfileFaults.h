// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which block of the heap, or which other place, each page fault was in. Blocks
// come and go, so that is decided soon after the fault, by its time.

#ifndef MPG_PROFILE_PROFILEFAULTS_H
#define MPG_PROFILE_PROFILEFAULTS_H

#include "Measure/Counters.h"
#include "mpg/profile.h"
#include <map>
#include <vector>

namespace mpg {

/// Page faults of an object.
struct FaultCount {
  uint64_t faults = 0;
  std::map<uint32_t, uint64_t> threads; ///< of each thread
  void add(uint32_t thread, uint64_t count) {
    faults += count;
    threads[thread] += count;
  }
  void add(const FaultCount &other);
};

class ProfileFaults {
public:
  /// \p blocks: as ProfileTable has them.
  void add(std::vector<FaultSample> samples,
           const std::vector<mpg_profile_block> &blocks);

  /// Of a place that allocates.
  FaultCount atSite(uint32_t site) const;
  /// Of addresses that were no block's, on some pages more or less.
  FaultCount within(uint64_t start, uint64_t end) const;
  uint64_t all() const { return faults; }

private:
  std::map<uint32_t, FaultCount> sites;
  std::map<uint64_t, FaultCount> others; ///< by address, in pieces
  uint64_t faults = 0;
};

} // namespace mpg

#endif // MPG_PROFILE_PROFILEFAULTS_H
