// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine's load during a measurement: the time, whether others used it
// (CPU time of other processes, time that the hypervisor took, called steal,
// load), and its processes' waits for memory. Reports mark a measurement on a
// busy machine, and no verdict is built on it.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <sys/time.h>
#include <vector>

namespace mpg {

// Clocks. Time as measurements need it.

/// Seconds of CLOCK_MONOTONIC.
double nowSeconds();

double toSeconds(const timeval &time);

/// The time of day in UTC: "2026-01-01T00:00:00Z".
std::string utcNow();

// Load

/// One look at /proc/stat, in ticks of USER_HZ, and at the CPU time of this
/// process and its ended children.
struct LoadSample {
  uint64_t busyTicks = 0, idleTicks = 0, stealTicks = 0;
  double ownSeconds = 0;
  double wallSeconds = 0; ///< CLOCK_MONOTONIC
  double loadAverage = 0; ///< of one minute
};

/// \p stat and \p loadavg as in /proc; nothing if they make no sense.
/// \p cpus: these alone; none: all.
std::optional<LoadSample> parseLoad(llvm::StringRef stat,
                                    llvm::StringRef loadavg,
                                    llvm::ArrayRef<unsigned> cpus = {});
/// Now; nothing if /proc does not tell.
std::optional<LoadSample> readLoad(llvm::ArrayRef<unsigned> cpus = {});

/// The CPUs that this process may run on, as of a job; none: not known.
std::vector<unsigned> allowedCpus();

struct LoadBetween {
  double seconds = 0;
  double othersCpus = 0; ///< CPUs that other processes kept busy, on average
  double stealCpus = 0;  ///< CPUs that the hypervisor gave to others
  double loadAverage = 0;
  /// The hypervisor took a twentieth of one CPU. Less is noise.
  bool isStolen() const { return stealCpus >= 0.05; }
  /// That, or others had more than a tenth of one CPU.
  bool isBusy() const { return othersCpus > 0.10 || isStolen(); }
  /// "other processes used 1.30 CPUs, steal 0.00"; for texts.
  std::string describe() const;
};
LoadBetween loadBetween(const LoadSample &before, const LoadSample &after);

// Waiting for memory. Time that processes waited for memory: while the kernel
// joined free memory into large pages (compaction) or freed it (reclaim); how
// often a page fault had to do without a large page, how many large pages were
// split, and what khugepaged made. The kernel counts for all processes since
// the boot, and some of it for each control group: subtract two readings.

struct MemoryStalls {
  uint64_t compactions = 0;       ///< that a process waited for
  uint64_t compactionsInVain = 0; ///< of these
  uint64_t reclaims = 0;          ///< that a process waited for
  uint64_t largeFaults = 0;       ///< page faults that had a large page
  uint64_t refusedFaults = 0;     ///< that were to have one and had none
  uint64_t splits = 0;            ///< large pages cut into base pages
  uint64_t collapses = 0;         ///< large pages that khugepaged made
  uint64_t collapsesInVain = 0;   ///< for which it found no free memory
  bool isOfGroup = false;         ///< of a control group, which has not all
  /// So long at least one process waited for memory, by the kernel's pressure
  /// information (Linux 4.20); nothing: it does not tell.
  std::optional<double> waitedSeconds;

  bool isNone() const;
  /// "none" or "compaction 12 times (3 in vain), reclaim 0 times; large pages
  /// at 90 page faults, refused at 4; some process waited for memory for 0.25
  /// s"
  std::string describe() const;
  /// With their names in JSON.
  std::vector<std::pair<llvm::StringRef, std::optional<uint64_t>>>
  counts() const;
};

/// \p vmstat and \p pressure as in /proc/vmstat and /proc/pressure/memory, the
/// latter empty if there is none. Nothing if the kernel has no compaction or no
/// transparent huge pages.
std::optional<MemoryStalls> parseStalls(llvm::StringRef vmstat,
                                        llvm::StringRef pressure);
/// The same of a control group of version 2, out of its memory.stat and
/// memory.pressure. Nothing if the former has no transparent huge pages.
std::optional<MemoryStalls> parseGroupStalls(llvm::StringRef memoryStat,
                                             llvm::StringRef pressure);
/// Now; nothing if /proc does not tell.
std::optional<MemoryStalls> readStalls();

MemoryStalls stallsBetween(const MemoryStalls &before,
                           const MemoryStalls &after);

/// The effect on a page fault where the file `defrag` of transparent huge pages
/// has \p word; empty for an unknown word.
llvm::StringRef describeDefrag(llvm::StringRef word);

/// The kernel's present word for defrag; empty if it is not known.
std::string readDefrag();

} // namespace mpg
