// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether others used the machine while something was measured: CPU time of
// other processes, time that the hypervisor took (steal), load. A measurement
// on a busy machine is told as such, and no verdict is built on it.

#ifndef MPG_MEASURE_MACHINELOAD_H
#define MPG_MEASURE_MACHINELOAD_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mpg {

/// One look at /proc/stat, in ticks of USER_HZ, and at the CPU time of this
/// process and its ended children.
struct LoadSample {
  uint64_t busyTicks = 0, idleTicks = 0, stealTicks = 0;
  double ownSeconds = 0;
  double wallSeconds = 0; ///< CLOCK_MONOTONIC
  double loadAverage = 0; ///< of one minute
};

/// \p stat and \p loadavg as in /proc; nothing if they make no sense.
std::optional<LoadSample> parseLoad(llvm::StringRef stat,
                                    llvm::StringRef loadavg);
/// Now; nothing if /proc does not tell.
std::optional<LoadSample> readLoad();

struct LoadBetween {
  double seconds = 0;
  double othersCpus = 0; ///< CPUs that other processes kept busy, on average
  double stealCpus = 0;  ///< CPUs that the hypervisor gave to others
  double loadAverage = 0;
  /// The hypervisor took a fiftieth of one CPU.
  bool isStolen() const { return stealCpus > 0.02; }
  /// That, or others had more than a tenth of one CPU.
  bool isBusy() const { return othersCpus > 0.10 || isStolen(); }
  /// "other processes used 1.30 CPUs, steal 0.00"; for texts.
  std::string describe() const;
};
LoadBetween loadBetween(const LoadSample &before, const LoadSample &after);

} // namespace mpg

#endif // MPG_MEASURE_MACHINELOAD_H
