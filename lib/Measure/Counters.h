// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware and kernel counters of one process (perf_event_open): cycles,
// instructions, misses of the data TLBs, page faults. A counter that the
// machine does not have, or that was shared with others for a part of the time,
// has no value; it is never scaled up.

#pragma once

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
  /// Counts \p process with all threads and children that it makes from now on;
  /// 0: the calling process. Starts at once, or with \p onExec when it executes
  /// a program. \p ofProcessor: only counters that cost nothing while they
  /// count; each of the kernel's makes page faults slower.
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

/// The processors that have events in ProcessorEvents.def.
enum class Processor {
  other,
  arm,
  skylake,
  skylakeServer,
  sapphireRapids,
  zen
};
Processor thisProcessor();

} // namespace mpg
