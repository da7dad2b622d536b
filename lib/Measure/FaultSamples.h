// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Page faults of a program, with the address and the thread of some of them:
// the kernel's software event, which needs no counter of the processor. A page
// faults when it is touched first, so this is also who touched it.

#ifndef MPG_MEASURE_FAULTSAMPLES_H
#define MPG_MEASURE_FAULTSAMPLES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mpg {

struct FaultSample {
  uint64_t timeNs; ///< of CLOCK_MONOTONIC
  uint64_t address;
  uint64_t faults; ///< for so many it stands
  uint32_t thread;
};

class FaultSampler {
public:
  FaultSampler() = default;
  ~FaultSampler();
  FaultSampler(const FaultSampler &) = delete;
  FaultSampler &operator=(const FaultSampler &) = delete;

  /// Of \p process, which will call exec, from then on, and its threads.
  void start(pid_t process);
  /// Why there are none; empty: there are.
  const std::string &missing() const { return reason; }
  /// User code alone: kernel.perf_event_paranoid forbids the rest.
  bool isUserOnly() const { return userOnly; }

  /// Those that came since the last call, of each processor in order. To be
  /// called often: what finds no room is lost.
  void take(llvm::function_ref<void(const FaultSample &)> visit);
  uint64_t lost() const { return lostFaults; }
  /// All faults until now, of children as well.
  uint64_t count() const;

private:
  struct Ring {
    int fd;
    void *memory;
  };
  bool open(int processor);
  void close();
  void takeFrom(Ring &ring,
                llvm::function_ref<void(const FaultSample &)> visit);

  pid_t process = 0;
  bool userOnly = false;
  uint64_t lostFaults = 0;
  std::string reason = "nobody asked";
  std::vector<Ring> rings;
};

} // namespace mpg

#endif // MPG_MEASURE_FAULTSAMPLES_H
