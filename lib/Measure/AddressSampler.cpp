// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel writes samples into a ring for each processor: one for all does
// not go together with threads. Each fault is written down, as a large page has
// one and a sample of them names the wrong threads. Where a processor has very
// many, which only small pages can cause, it is one in thirteen: a small one
// costs a third more if it is written down. Not by frequency, where the kernel
// chooses: after many faults it takes thousands until it sees single ones
// again.

#include "Measure/AddressSampler.h"
#include "Measure/Counters.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr unsigned faultsASample = 13; ///< no power of two, as loops are
/// In a second: large pages take longer to clear.
static constexpr double manyFaults = 25000;
/// Fewer since the last look cost nothing: the loader's, say.
static constexpr uint64_t fewestFaults = 3000;
/// The size of all rings together. A ring of 1 MiB holds the faults of 128 MiB
/// of small pages, which is enough while a busy machine keeps us waiting.
static constexpr size_t ringsBytes = 16 << 20;
static constexpr size_t minRingBytes = 64 << 10, maxRingBytes = 1 << 20;
static constexpr size_t traceBytes = 256 << 10;
static constexpr uint64_t codeSampleNs = 997000; ///< no multiple of a tick

static size_t pageBytes() { return size_t(sysconf(_SC_PAGESIZE)); }

// Events that are sampled

/// The number of a PMU that the kernel names; nothing: there is none.
[[maybe_unused]] static std::optional<uint32_t> findPmu(const char *name) {
  char path[96], text[16] = {};
  snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", name);
  int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return std::nullopt;
  ssize_t length = read(fd, text, sizeof text - 1);
  ::close(fd);
  uint32_t type = 0;
  if (length <= 0 || StringRef(text).trim().getAsInteger(10, type))
    return std::nullopt;
  return type;
}

static perf_event_attr pageFaultEvent() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
  attributes.sample_period = 1;
  // With PERF_SAMPLE_PERIOD the kernel would write each fault.
  attributes.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
  return attributes;
}

static perf_event_attr codeEvent() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = codeSampleNs;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  return attributes;
}

/// Nothing: this processor has none, as far as is known here. Some thousand
/// samples in a second.
static std::optional<perf_event_attr> tlbMissEvent() {
  perf_event_attr attributes = pageFaultEvent();
#ifdef __aarch64__
  std::optional<uint32_t> spe = findPmu("arm_spe_0");
  if (!spe)
    return std::nullopt;
  attributes.type = *spe;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  // ts_enable, load_filter, store_filter; of these refills of a TLB.
  attributes.config = 1 | 1ULL << 33 | 1ULL << 34;
  attributes.config1 = 1 << 5;
  attributes.sample_period = 4096;
#else
  Processor processor = thisProcessor();
  if (processor == Processor::zen) {
    std::optional<uint32_t> ibs = findPmu("ibs_op");
    if (!ibs)
      return std::nullopt;
    attributes.type = *ibs;
    attributes.config = 0;
    attributes.sample_type |= PERF_SAMPLE_DATA_SRC;
    attributes.sample_period = 1 << 20; // cycles
  } else if (processor != Processor::other) {
    attributes.type = PERF_TYPE_RAW;
#define MPG_SAMPLED_EVENT(processor, name, number, libpfm)                     \
  attributes.config = number;
#include "Measure/ProcessorEvents.def"
    attributes.precise_ip = 2;
    attributes.sample_period = 1009;
  } else {
    return std::nullopt;
  }
#endif
  return attributes;
}

static std::optional<perf_event_attr> sampledEvent(AddressSampler::Of what) {
  switch (what) {
  case AddressSampler::Of::pageFaults:
    return pageFaultEvent();
  case AddressSampler::Of::code:
    return codeEvent();
  case AddressSampler::Of::tlbMisses:
    return tlbMissEvent();
  }
  llvm_unreachable("all kinds are listed");
}

// PERF_MEM_TLB_MISS in the field mem_dtlb of perf_mem_data_src.
bool mpg::isTlbMiss(uint64_t dataSource) {
  constexpr unsigned tlbShift = PERF_MEM_TLB_SHIFT;
  return (dataSource >> tlbShift) & PERF_MEM_TLB_MISS;
}

// SPE. A record is a row of packets: a byte that says what it is, of which bits
// 4 and 5 are the size of what follows (1, 2, 4, 8 bytes); the time is the last
// one (Arm Architecture Reference Manual, D10, by way of perf's dumps: read).

static constexpr uint8_t spePadding = 0x00, speEnd = 0x01, speTime = 0x71,
                         speDataAddress = 0xb2;
static constexpr uint8_t speEvents = 0x42; ///< of any size

/// Whether \p head begins a packet of a known kind.
static bool isPacket(uint8_t head) {
  uint8_t kind = head & 0xcf;
  return kind == speEvents || kind == 0x43 /* where data came from */ ||
         head == speTime || (head & 0xfc) == 0x64 /* context */ ||
         (head & 0xfc) == 0x48 /* operation */ ||
         (head & 0xf8) == 0xb0 /* address */ ||
         (head & 0xf8) == 0x98 /* cycles */;
}

bool mpg::decodeSpe(ArrayRef<uint8_t> trace,
                    function_ref<void(const SpeAccess &)> visit) {
  SpeAccess access = {};
  auto finish = [&] {
    if (access.address)
      visit(access);
    access = {};
  };
  for (size_t at = 0; at < trace.size();) {
    uint8_t head = trace[at++];
    if (head == spePadding)
      continue;
    if (head == speEnd) {
      finish();
      continue;
    }
    bool isLong = (head & 0xfc) == 0x20; // an extended header
    if (isLong && at < trace.size()) {
      head = trace[at++];
      if (head == spePadding) // to a multiple of a power of two
        continue;
    }
    if (!isPacket(head))
      return false;
    size_t bytes = size_t(1) << (head >> 4 & 3);
    if (at + bytes > trace.size())
      return true; // the rest of it comes later
    uint64_t value = 0;
    memcpy(&value, &trace[at], bytes);
    at += bytes;
    if (!isLong && head == speDataAddress)
      access.address = value & ~(uint64_t(0xff) << 56); // a tag
    else if ((head & 0xcf) == speEvents)
      access.events = value;
    else if (head == speTime)
      finish();
  }
  return true;
}

// Rings

namespace {

/// A record as the kernel writes it, in the order of sample_type.
struct SampleRecord {
  perf_event_header header;
  uint32_t process, thread;
  uint64_t time, address, dataSource;
};

struct CodeRecord {
  perf_event_header header;
  uint64_t address;
  uint32_t process, thread;
  uint64_t time;
};

struct LostRecord {
  perf_event_header header;
  uint64_t id, lost;
};

} // namespace

AddressSampler::~AddressSampler() { close(); }

void AddressSampler::close() {
  for (Ring &ring : rings) {
    if (ring.trace)
      munmap(ring.trace, traceBytes);
    munmap(ring.memory, pageBytes() + ringBytes);
    ::close(ring.fd);
    if (ring.fewFd >= 0)
      ::close(ring.fewFd);
  }
  rings.clear();
}

/// The kernel writes what the processor traces; null: errno says why not.
static void *mapTrace(int fd, void *ring, size_t ringBytes) {
  auto *head = static_cast<perf_event_mmap_page *>(ring);
  head->aux_offset = pageBytes() + ringBytes;
  head->aux_size = traceBytes;
  void *trace = mmap(nullptr, traceBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, off_t(head->aux_offset));
  return trace == MAP_FAILED ? nullptr : trace;
}

/// False: errno says why; EPERM of the mapping, ENOBUFS here, is
/// kernel.perf_event_mlock_kb. A processor that is off is none.
bool AddressSampler::open(int processor) {
  std::optional<perf_event_attr> wanted = sampledEvent(what);
  if (!wanted) {
    errno = ENOENT;
    return false;
  }
  perf_event_attr &attributes = *wanted;
  attributes.size = sizeof(attributes);
  attributes.inherit = 1;
  attributes.disabled = attributes.enable_on_exec = 1;
  attributes.exclude_kernel = attributes.exclude_hv =
      userOnly || what == Of::code;
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
    errno = error == EPERM ? ENOBUFS : error;
    return false;
  }
  rings.push_back({fd, memory, nullptr});
  if (what == Of::pageFaults && !openFew(rings.back(), processor, attributes))
    return false;
  bool isTraced =
      what == Of::tlbMisses && !(attributes.sample_type & PERF_SAMPLE_ADDR);
  if (isTraced)
    rings.back().trace = mapTrace(fd, memory, ringBytes);
  return !isTraced || rings.back().trace;
}

/// The event that takes turns with the first one, into the same ring. False:
/// errno says why.
bool AddressSampler::openFew(Ring &ring, int processor,
                             perf_event_attr attributes) {
  attributes.sample_period = faultsASample;
  attributes.enable_on_exec = 0;
  ring.fewFd = int(syscall(SYS_perf_event_open, &attributes, process, processor,
                           /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
  return ring.fewFd >= 0 &&
         ioctl(ring.fewFd, PERF_EVENT_IOC_SET_OUTPUT, ring.fd) == 0;
}

static uint64_t monotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

static uint64_t readCount(int fd) {
  uint64_t value;
  return fd >= 0 && read(fd, &value, sizeof(value)) == sizeof(value) ? value
                                                                     : 0;
}

/// pre: the ring was just emptied.
void AddressSampler::adapt(Ring &ring) {
  constexpr uint64_t minNs = 1000000;
  uint64_t now = monotonicNs();
  if (ring.fewFd < 0 || now - ring.seenNs < minNs)
    return;
  uint64_t all = readCount(ring.fd) + readCount(ring.fewFd);
  double each = double(all - ring.seen) * 1e9 / double(now - ring.seenNs);
  bool isFirst = !ring.seenNs, isMany = all - ring.seen >= fewestFaults;
  ring.seen = all;
  ring.seenNs = now;
  // Not at each crossing of a border.
  bool wantsFew =
      ring.few ? each > manyFaults / 2 : isMany && each > manyFaults;
  if (isFirst || wantsFew == ring.few)
    return;
  ring.few = wantsFew;
  ioctl(wantsFew ? ring.fd : ring.fewFd, PERF_EVENT_IOC_DISABLE, 0);
  ioctl(wantsFew ? ring.fewFd : ring.fd, PERF_EVENT_IOC_ENABLE, 0);
}

/// False: errno says why, and rings are open for the processors before.
bool AddressSampler::openAll() {
  auto processors = int(sysconf(_SC_NPROCESSORS_CONF));
  for (int processor = 0; processor < processors; ++processor) {
    bool isOpen = open(processor);
    if (!isOpen && errno == EACCES && !userOnly && rings.empty()) {
      userOnly = true;
      isOpen = open(processor);
    }
    if (!isOpen)
      return false;
  }
  return true;
}

void AddressSampler::start(pid_t ofProcess) {
  process = ofProcess;
  reason.clear();
  auto processors = size_t(sysconf(_SC_NPROCESSORS_CONF));
  ringBytes = what == Of::code
                  ? minRingBytes
                  : std::clamp(size_t(bit_floor(ringsBytes / processors)),
                               minRingBytes, maxRingBytes);
  // kernel.perf_event_mlock_kb limits what a user's rings may have together.
  while (!openAll()) {
    int error = errno;
    close();
    if ((error == ENOBUFS || error == ENOMEM) && ringBytes > minRingBytes) {
      ringBytes /= 2;
      continue;
    }
    if (error == ENOBUFS)
      reason = "not available: kernel.perf_event_mlock_kb leaves no room for "
               "their buffers: root can raise it";
    else if (what != Of::tlbMisses || error == EACCES || error == EPERM)
      reason = whyNoSoftwareEvent(error);
    else
      reason = "not available: none of PEBS, IBS and SPE, as far as mpgrun "
               "knows them, is to be had here";
    return;
  }
  if (rings.empty())
    reason = whyNoSoftwareEvent(ENODEV);
}

void AddressSampler::readTrace(
    Ring &ring, function_ref<void(const AddressSample &)> visit) const {
  auto *head = static_cast<perf_event_mmap_page *>(ring.memory);
  auto *data = static_cast<const uint8_t *>(ring.trace);
  uint64_t end = __atomic_load_n(&head->aux_head, __ATOMIC_ACQUIRE);
  std::vector<uint8_t> bytes;
  for (uint64_t at = head->aux_tail; at < end; ++at)
    bytes.push_back(data[at % traceBytes]);
  // Its times are of another clock: those of this moment are near enough to
  // tell which block was there.
  uint64_t nowNs = monotonicNs();
  decodeSpe(bytes, [&](const SpeAccess &access) {
    if (access.isTlbMiss())
      visit({nowNs, access.address, 1, 0});
  });
  __atomic_store_n(&head->aux_tail, end, __ATOMIC_RELEASE);
}

void AddressSampler::drainRing(
    Ring &ring, function_ref<void(const AddressSample &)> visit) {
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
      CodeRecord code;
      LostRecord lost;
    } record = {};
    copy(&record.header, sizeof(record.header));
    size_t bytes = record.header.size;
    if (bytes < sizeof(record.header))
      break;
    copy(&record, std::min(bytes, sizeof(record)));
    // Of IBS each access is sampled; it says what it was.
    bool isOther =
        bytes >= sizeof(SampleRecord) && !isTlbMiss(record.sample.dataSource);
    bool isSample = record.header.type == PERF_RECORD_SAMPLE && !ring.trace;
    if (record.header.type == PERF_RECORD_LOST) {
      lostSamples += record.lost.lost;
    } else if (isSample && what == Of::code) {
      if (record.code.process == uint32_t(process))
        visit({record.code.time, record.code.address, 1, record.code.thread});
    } else if (isSample && record.sample.process == uint32_t(process) &&
               !isOther) {
      visit({record.sample.time, record.sample.address,
             ring.few ? faultsASample : 1, record.sample.thread});
    }
    at += bytes;
  }
  __atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
}

uint64_t AddressSampler::count() const {
  uint64_t sum = 0;
  for (const Ring &ring : rings)
    sum += readCount(ring.fd) + readCount(ring.fewFd);
  return sum;
}

void AddressSampler::drain(function_ref<void(const AddressSample &)> visit) {
  for (Ring &ring : rings) {
    drainRing(ring, visit);
    if (ring.trace)
      readTrace(ring, visit);
    adapt(ring);
  }
}
