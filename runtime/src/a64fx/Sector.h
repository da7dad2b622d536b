// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways of the sector cache, region by region, the calling thread's part of
// mpg_sector_begin and mpg_sector_end (<mpg/pass.h>); and hardware prefetch.
//
// The L1 register is the CPU's, so each thread keeps what it found there, in a
// stack of regions. The L2 register is the group's, and several threads of a
// group may be in a region at once: what was there before the first of them
// came is put back when the last has gone; among those that are in, the one
// that wrote last is in force.

#pragma once

#include "a64fx/ThisMachine.h"
#include "base/Env.h"
#include "base/Messages.h"
#include "mpg/mpg.h"
#include "mpg/pass.h"
#include "numa/NodeCpus.h"

namespace mpg {

class SectorControl {
public:
  constexpr explicit SectorControl(const Machine &machine) : machine(machine) {}

  /// Without this call the defaults apply and nothing is printed. \p messages
  /// may be null.
  void start(const SectorSettings &settings, Messages *messages);

  /// Writes FLIB_L2_SECTOR_NWAYS_INIT, if it is set, on all groups of the
  /// process.
  void writeInitialWays();

  /// Whether begin() could do anything, for any thread. Says so if not.
  int check();

  /// Begins a region of the calling thread. Returns its token, the number of
  /// regions around it, or what failWith() returns.
  int begin(const mpg_ways &ways);

  /// The same with \p token given: regions that are deeper end, missing ones
  /// are taken as empty. For the threads of a team.
  int beginAt(int token, const mpg_ways &ways);

  /// Ends the region of \p token and all inside of it; nothing if it has ended.
  void end(int token);

  static constexpr int maxDepth = 16; ///< regions inside each other

private:
  /// The L2 cache of one group.
  struct Group {
    uint32_t users;   ///< regions with L2 ways
    uint64_t outside; ///< value of the register when there was none
  };

  Missing setL1(const mpg_ways &ways, int depth);
  Missing missingForL2(const Place &place) const;
  Missing setL2(const mpg_ways &ways, int depth);
  void endL2(int depth);
  void forgetParentsUsers() MPG_REQUIRES(lock);
  void report(Missing what, const char *cost);

  const Machine &machine;
  SectorSettings settings;
  Messages *messages = nullptr;
  ProcessLock lock;
  /// The process that has counted them.
  uint32_t usersOf MPG_GUARDED_BY(lock) = 0;
  Group groups[CoreGroups::maxNodes] MPG_GUARDED_BY(lock) = {};
};

/// Tells the one instance that <mpg/pass.h> uses how the environment wants it.
void startSectors(const SectorSettings &settings, Messages *messages);

/// SectorControl::writeInitialWays() of that instance.
void writeInitialWays();

// Hardware prefetch: mpg_prefetch_set (<mpg/mpg.h>) on a given machine.

/// Checks everything before it writes anything. Returns 0 or what failWith()
/// returns.
int setPrefetch(const Machine &machine, int entry, const mpg_prefetch *asked);

} // namespace mpg
