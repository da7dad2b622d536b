// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each counter stands alone: in a group, one that the processor does not have
// would take the others with it. There are few enough of them for the registers
// of today's processors; where they are not (a watchdog or another profiler
// takes some), the kernel shares the registers over time, and such a counter
// has no value: scaled up it would be a guess, and worst in short runs.

#include "Measure/Counters.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// Which there are
//===----------------------------------------------------------------------===//

namespace {

struct CounterKind {
  StringRef name;
  uint32_t type;
  uint64_t config;
  /// The kernel counts it at a place of its own: it would be 0 for user code.
  bool isKernels = false;
};

} // namespace

#ifndef __aarch64__
static constexpr uint64_t dataTlbMisses(uint64_t operation) {
  return PERF_COUNT_HW_CACHE_DTLB | operation << 8 |
         uint64_t(PERF_COUNT_HW_CACHE_RESULT_MISS) << 16;
}
#endif

static const CounterKind kinds[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
#ifdef __aarch64__
    // By number, HW:arm-pmu-events: Linux's name for misses of the last level
    // is those of the first one on Arm, and no name is for the second TLB's,
    // the one whose misses cost a walk through the tables.
    {"l1d-tlb-refills", PERF_TYPE_RAW, 0x05},
    {"l2d-tlb-refills", PERF_TYPE_RAW, 0x2d},
    {"l2d-cache-refills", PERF_TYPE_RAW, 0x17},
#else
    {"dtlb-load-misses", PERF_TYPE_HW_CACHE,
     dataTlbMisses(PERF_COUNT_HW_CACHE_OP_READ)},
    {"dtlb-store-misses", PERF_TYPE_HW_CACHE,
     dataTlbMisses(PERF_COUNT_HW_CACHE_OP_WRITE)},
    {"llc-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
#endif
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
     true},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true}};

//===----------------------------------------------------------------------===//
// Why one is missing
//===----------------------------------------------------------------------===//

/// The number in kernel.perf_event_paranoid; "" if there is none.
static std::string readParanoid() {
  int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return {};
  char text[16];
  ssize_t length = ::read(fd, text, sizeof(text));
  close(fd);
  return StringRef(text, length > 0 ? size_t(length) : 0).trim().str();
}

static std::string describeRefusal(bool isKernels) {
  std::string paranoid = readParanoid();
  int level = 0;
  if (StringRef(paranoid).getAsInteger(10, level) ||
      level < (isKernels ? 2 : 3))
    return "not available: this process may not open counters (container?)";
  return "not available: kernel.perf_event_paranoid is " + paranoid +
         ": root can set it to " + (isKernels ? "1" : "2");
}

static std::string describeError(const CounterKind &kind, int error,
                                 bool hasCycles) {
  if (error == EACCES || error == EPERM)
    return describeRefusal(kind.isKernels);
  if (error == ENOSYS)
    return "not available: this kernel has no perf_event_open";
  // What ENOENT, ENODEV, EINVAL and EOPNOTSUPP stand for differs between
  // processors; for a hardware counter they come to the same.
  if (kind.type == PERF_TYPE_SOFTWARE || error == EMFILE || error == ESRCH)
    return std::string("not available: ") + strerror(error);
  return hasCycles ? "not available: this processor does not count them"
                   : "not available: this machine's processor counters are "
                     "not visible (virtual machine?)";
}

std::string mpg::whyNoSoftwareEvent(int error) {
  return describeError({"", PERF_TYPE_SOFTWARE, 0}, error, false);
}

//===----------------------------------------------------------------------===//
// Opening and reading
//===----------------------------------------------------------------------===//

static int openCounter(const CounterKind &kind, pid_t process, bool onExec,
                       bool isUserOnly) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = kind.type;
  attributes.config = kind.config;
  attributes.inherit = 1;
  attributes.disabled = onExec;
  attributes.enable_on_exec = onExec;
  attributes.exclude_kernel = isUserOnly;
  attributes.exclude_hv = isUserOnly;
  attributes.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return int(syscall(SYS_perf_event_open, &attributes, process, /*cpu=*/-1,
                     /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
}

namespace {

/// What the kernel writes, in the order of read_format.
struct Reading {
  uint64_t value, enabledNs, runningNs;
};

} // namespace

static bool readCounter(int fd, Reading &reading) {
  return read(fd, &reading, sizeof(reading)) == ssize_t(sizeof(reading));
}

Counters::Counters(pid_t process, bool onExec, bool ofProcessor) {
  for (const CounterKind &kind : kinds) {
    if (ofProcessor && kind.type == PERF_TYPE_SOFTWARE)
      continue;
    Counter counter = {kind.name.str(), -1, {}};
    counter.fd = openCounter(kind, process, onExec, /*isUserOnly=*/false);
    if (counter.fd < 0 && errno == EACCES && !kind.isKernels) {
      counter.fd = openCounter(kind, process, onExec, /*isUserOnly=*/true);
      if (counter.fd >= 0)
        counter.name += ":u"; // as perf writes it
    }
    if (counter.fd < 0)
      counter.error = describeError(
          kind, errno, !counters.empty() && counters.front().fd >= 0);
    counters.push_back(std::move(counter));
  }
}

Counters::~Counters() {
  for (const Counter &counter : counters)
    if (counter.fd >= 0)
      close(counter.fd);
}

// Not PERF_EVENT_IOC_RESET: it leaves alone what ended threads and children
// have counted.
void Counters::reset() {
  for (Counter &counter : counters) {
    Reading reading = {};
    if (counter.fd >= 0 && readCounter(counter.fd, reading))
      counter.start = reading.value;
  }
}

std::vector<CounterValue> Counters::read() const {
  std::vector<CounterValue> values;
  for (const Counter &counter : counters) {
    values.push_back({counter.name, std::nullopt, counter.error});
    if (counter.fd < 0)
      continue;
    Reading reading = {};
    if (!readCounter(counter.fd, reading))
      values.back().missing = std::string("not available: ") + strerror(errno);
    else if (reading.runningNs < reading.enabledNs)
      values.back().missing =
          "not counted all the time: shared with other counters";
    else
      values.back().value = reading.value - counter.start;
  }
  return values;
}
