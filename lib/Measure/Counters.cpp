// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each counter stands alone: in a group, one that the processor does not have
// would take the others with it. As many are opened as there are registers;
// where another profiler takes some, the kernel shares the registers over time,
// and such a counter has no value: scaled up it would be a guess, and worst in
// short runs.

#include "Measure/Counters.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

using namespace llvm;
using namespace mpg;

// Which there are

namespace mpg {

struct CounterKind {
  StringRef name;
  uint32_t type;
  uint64_t config;
  /// The kernel counts it elsewhere: it would be 0 for user code.
  bool isKernels = false;
};

} // namespace mpg

static const CounterKind firstKinds[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}};

static const CounterKind kernelKinds[] = {
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
     true},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true}};

static const struct {
  Processor processor;
  CounterKind kind;
} processorKinds[] = {
#define MPG_PROCESSOR_EVENT(processor, name, config, libpfm)                   \
  {Processor::processor, {name, PERF_TYPE_RAW, config}},
#include "Measure/ProcessorEvents.def"
};

#ifdef __x86_64__
static constexpr uint64_t dataTlbMisses(uint64_t operation) {
  return PERF_COUNT_HW_CACHE_DTLB | operation << 8 |
         uint64_t(PERF_COUNT_HW_CACHE_RESULT_MISS) << 16;
}

/// Events that each processor has, after its own.
static const CounterKind genericKinds[] = {
    {"dtlb-load-misses", PERF_TYPE_HW_CACHE,
     dataTlbMisses(PERF_COUNT_HW_CACHE_OP_READ)},
    {"dtlb-store-misses", PERF_TYPE_HW_CACHE,
     dataTlbMisses(PERF_COUNT_HW_CACHE_OP_WRITE)},
    {"llc-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};

namespace {

struct CpuId {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  /// All 0 without such a leaf.
  explicit CpuId(unsigned leaf) { __get_cpuid(leaf, &eax, &ebx, &ecx, &edx); }
};

} // namespace

static bool isIntel() { return CpuId(0).ecx == signature_INTEL_ecx; }

Processor mpg::thisProcessor() {
  unsigned version = CpuId(1).eax;
  unsigned family = (version >> 8 & 0xf) + (version >> 20 & 0xff);
  unsigned model = (version >> 4 & 0xf) | (version >> 12 & 0xf0);
  if (CpuId(0).ecx == signature_AMD_ecx)
    return family >= 0x17 && family <= 0x1a ? Processor::zen : Processor::other;
  if (!isIntel() || family != 6)
    return Processor::other;
  if (is_contained({0x55u, 0x6au, 0x6cu}, model))
    return Processor::skylakeServer;
  if (is_contained({0x8fu, 0xcfu}, model))
    return Processor::sapphireRapids;
  if (is_contained({0x4eu, 0x5eu, 0x7du, 0x7eu, 0x8eu, 0x9eu, 0xa5u, 0xa6u},
                   model))
    return Processor::skylake;
  return Processor::other;
}

/// How many events beside cycles and instructions the processor counts at the
/// same time. Where no file tells, all: one too many shows in its time.
static size_t freeRegisters() {
  int fd = open("/proc/sys/kernel/nmi_watchdog", O_RDONLY | O_CLOEXEC);
  char watchdog = '0';
  (void)!::read(fd, &watchdog, 1);
  close(fd);
  size_t taken = watchdog == '1';
  // Intel has registers for those two alone.
  size_t all = isIntel() ? CpuId(0xa).eax >> 8 & 0xff : 6;
  if (!isIntel())
    taken += std::size(firstKinds);
  return all > taken ? all - taken : SIZE_MAX;
}
#else
static const ArrayRef<CounterKind> genericKinds;
Processor mpg::thisProcessor() { return Processor::arm; }
static size_t freeRegisters() { return SIZE_MAX; } ///< six, of which three do
#endif

/// Beside the first ones; the most important first.
static std::vector<CounterKind> kindsOfThisProcessor() {
  std::vector<CounterKind> kinds;
  for (const auto &[processor, kind] : processorKinds)
    if (processor == thisProcessor())
      kinds.push_back(kind);
  kinds.insert(kinds.end(), std::begin(genericKinds), std::end(genericKinds));
  return kinds;
}

// Why one is missing

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

// Opening and reading

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

/// A reading as the kernel writes it, in the order of read_format.
struct Reading {
  uint64_t value, enabledNs, runningNs;
};

} // namespace

static bool readCounter(int fd, Reading &reading) {
  return read(fd, &reading, sizeof(reading)) == ssize_t(sizeof(reading));
}

void Counters::open(const CounterKind &kind, pid_t process, bool onExec) {
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

Counters::Counters(pid_t process, bool onExec, bool ofProcessor) {
  for (const CounterKind &kind : firstKinds)
    open(kind, process, onExec);
  std::vector<CounterKind> others = kindsOfThisProcessor();
  bool areVisible = counters.front().fd >= 0;
  size_t fitting =
      areVisible ? std::min(freeRegisters(), others.size()) : others.size();
  for (const CounterKind &kind : ArrayRef(others).take_front(fitting))
    open(kind, process, onExec);
  for (const CounterKind &kind : ArrayRef(others).drop_front(fitting))
    counters.push_back({kind.name.str(), -1,
                        "not available: the processor counts no more at once"});
  if (!ofProcessor)
    for (const CounterKind &kind : kernelKinds)
      open(kind, process, onExec);
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
