// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpg's list of large blocks (<mpg/profile.h>), copied out of the file and
// checked: a program may have written anything there. Also finds the block of
// each page fault.

#pragma once

#include "Measure/AddressSampler.h"
#include "mpg/profile.h"
#include <map>
#include <vector>

namespace mpg {

/// A large page, and the frame of addresses where one can lie.
constexpr uint64_t hugeFrameBytes = 2 << 20;

struct ProfileTable {
  std::vector<mpg_profile_site> sites;
  /// In use, or given back not long ago; \p site is an index, not a number.
  std::vector<mpg_profile_block> blocks;
  uint64_t blocksLost = 0; ///< there was no room for these
};

/// Makes the file \p fd of makeStateFile() longer. False if it has no room
/// (RLIMIT_FSIZE).
bool addProfileTable(int fd);

/// Makes libmpg turn 2 MiB frames of blocks into separate mappings. pre: the
/// file has a table.
void requestFrames(int fd);

/// The present contents of the file \p fd.
ProfileTable readProfileTable(int fd);

/// Only its blocks.
std::vector<mpg_profile_block> readProfileBlocks(int fd);

/// How many sites there are: changes when one is added.
unsigned countSites(int fd);

// Page faults. Which block of the heap, or which other place, each page fault
// was in. Blocks come and go, so that is decided soon after the fault, by its
// time.

/// Page faults of an object.
struct FaultCount {
  uint64_t faults = 0;
  std::map<uint32_t, uint64_t> threads; ///< of each thread
  void add(uint32_t thread, uint64_t count) {
    faults += count;
    threads[thread] += count;
  }
  void add(const FaultCount &other);
  void scale(double factor);
};

/// CPU time of a page fault on this machine, in ns, with the zeroing of the
/// page; 0: not known.
struct FaultCosts {
  double base = 0;
  double large = 0; ///< of a page of 2 MiB
};

/// Takes some milliseconds.
FaultCosts measureFaultCosts();

class ProfileFaults {
public:
  /// \p blocks: as ProfileTable has them.
  void add(std::vector<AddressSample> samples,
           const std::vector<mpg_profile_block> &blocks);

  /// Faults in blocks of a place that allocates.
  FaultCount atSite(uint32_t site) const;
  /// Faults at addresses outside of blocks, give or take some pages.
  FaultCount within(uint64_t start, uint64_t end) const;
  uint64_t all() const { return faults; }

private:
  std::map<uint32_t, FaultCount> sites;
  std::map<uint64_t, FaultCount> others; ///< by address, in pieces
  uint64_t faults = 0;
};

} // namespace mpg
