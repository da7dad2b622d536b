// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware and kernel counters of one process (perf_event_open): cycles,
// instructions, misses of the data TLBs, page faults. A counter that the
// machine does not have, or that was shared with others for a part of the time,
// has no value; it is never scaled up. And samples of page faults.

#ifndef MPG_MEASURE_COUNTERS_H
#define MPG_MEASURE_COUNTERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mpg {

struct CounterValue {
  /// "cycles", "dtlb-load-misses", ...; "cycles:u": of user code alone, because
  /// kernel.perf_event_paranoid forbids the rest.
  std::string name;
  std::optional<uint64_t> value;
  std::string missing; ///< why there is none: "not available: ..."
};

struct CounterKind;

class Counters {
public:
  /// Of \p process with all threads and children that it makes from now on; 0:
  /// of the calling process. They start at once, or with \p onExec when it
  /// executes a program. \p ofProcessor: only those that cost nothing while
  /// they count; each of the kernel's makes page faults slower.
  explicit Counters(pid_t process = 0, bool onExec = false,
                    bool ofProcessor = false);
  ~Counters();
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;

  void reset(); ///< to 0
  /// All counters that mpgtools asks for, in the same order each time.
  std::vector<CounterValue> read() const;

private:
  struct Counter {
    std::string name;
    int fd;             ///< -1: there is none
    std::string error;  ///< why
    uint64_t start = 0; ///< its value at the last reset()
  };
  void open(const CounterKind &kind, pid_t process, bool onExec);

  std::vector<Counter> counters;
};

/// Why an event of the kernel, such as page faults, cannot be had; \p error: of
/// perf_event_open.
std::string whyNoSoftwareEvent(int error);

//===----------------------------------------------------------------------===//
// Samples of page faults
//===----------------------------------------------------------------------===//
//
// Page faults of a program, with the address and the thread of some of them:
// the kernel's software event, which needs no counter of the processor. A page
// faults when it is touched first, so this is also who touched it.

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

#endif // MPG_MEASURE_COUNTERS_H
