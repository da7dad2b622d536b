// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FaultSamples.h. The kernel writes samples into a ring for each processor:
// one for all does not go together with threads. One fault in thirteen: a fault
// costs a third more if it is written down. Not by frequency, where the kernel
// chooses: after many faults it takes thousands until it sees single ones
// again, and on large pages there are no thousands.

#include "Measure/FaultSamples.h"
#include "Measure/Counters.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr unsigned faultsASample = 13; ///< no power of two, as loops are
static constexpr size_t ringBytes = 256 << 10; ///< a power of two

static size_t pageBytes() { return size_t(sysconf(_SC_PAGESIZE)); }

namespace {

/// What the kernel writes, in the order of sample_type.
struct SampleRecord {
  perf_event_header header;
  uint32_t process, thread;
  uint64_t time, address;
};

struct LostRecord {
  perf_event_header header;
  uint64_t id, lost;
};

} // namespace

FaultSampler::~FaultSampler() { close(); }

void FaultSampler::close() {
  for (Ring &ring : rings) {
    munmap(ring.memory, pageBytes() + ringBytes);
    ::close(ring.fd);
  }
  rings.clear();
}

/// False: errno says why. A processor that is off is none.
bool FaultSampler::open(int processor) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.sample_period = faultsASample;
  // With PERF_SAMPLE_PERIOD the kernel would write each fault.
  attributes.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  attributes.inherit = 1;
  attributes.disabled = attributes.enable_on_exec = 1;
  attributes.exclude_kernel = attributes.exclude_hv = userOnly;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  int fd = int(syscall(SYS_perf_event_open, &attributes, process, processor,
                       /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0)
    return errno == ENODEV;
  void *memory = mmap(nullptr, pageBytes() + ringBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    int error = errno;
    ::close(fd);
    errno = error;
    return false;
  }
  rings.push_back({fd, memory});
  return true;
}

void FaultSampler::start(pid_t ofProcess) {
  process = ofProcess;
  reason.clear();
  auto processors = int(sysconf(_SC_NPROCESSORS_CONF));
  for (int processor = 0; processor < processors; ++processor) {
    bool isOpen = open(processor);
    if (!isOpen && errno == EACCES && !userOnly && rings.empty()) {
      userOnly = true;
      isOpen = open(processor);
    }
    if (isOpen)
      continue;
    reason = errno == EPERM && !rings.empty()
                 ? "not available: kernel.perf_event_mlock_kb leaves no room "
                   "for their buffers: root can raise it"
                 : whyNoSoftwareEvent(errno);
    close();
    return;
  }
  if (rings.empty())
    reason = whyNoSoftwareEvent(ENODEV);
}

void FaultSampler::takeFrom(Ring &ring,
                            function_ref<void(const FaultSample &)> visit) {
  auto *head = static_cast<perf_event_mmap_page *>(ring.memory);
  auto *data = static_cast<const char *>(ring.memory) + pageBytes();
  uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE);
  uint64_t at = head->data_tail;
  auto copy = [&](void *target, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i)
      static_cast<char *>(target)[i] = data[(at + i) % ringBytes];
  };
  while (at < end) {
    union {
      perf_event_header header;
      SampleRecord sample;
      LostRecord lost;
    } record = {};
    copy(&record.header, sizeof(record.header));
    size_t bytes = record.header.size;
    if (bytes < sizeof(record.header))
      break;
    copy(&record, std::min(bytes, sizeof(record)));
    if (record.header.type == PERF_RECORD_LOST)
      lostFaults += record.lost.lost;
    else if (record.header.type == PERF_RECORD_SAMPLE &&
             record.sample.process == uint32_t(process))
      visit({record.sample.time, record.sample.address, faultsASample,
             record.sample.thread});
    at += bytes;
  }
  __atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
}

uint64_t FaultSampler::count() const {
  uint64_t sum = 0, value;
  for (const Ring &ring : rings)
    if (read(ring.fd, &value, sizeof(value)) == sizeof(value))
      sum += value;
  return sum;
}

void FaultSampler::take(function_ref<void(const FaultSample &)> visit) {
  for (Ring &ring : rings)
    takeFrom(ring, visit);
}
