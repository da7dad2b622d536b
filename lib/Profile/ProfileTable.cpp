// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProfileTable.h.

#include "Profile/ProfileTable.h"
#include "Support/StableSort.h"
#include "mpg/state.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstddef>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

bool mpg::addProfileTable(int fd) {
  constexpr uint64_t all = MPG_STATE_PROFILE + sizeof(mpg_profile);
  rlimit limit = {};
  // To be over it is SIGXFSZ.
  if (fd < 0 || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < all)
    return false;
  // A hole: only what is written takes memory.
  return ftruncate(fd, all) == 0;
}

void mpg::requestFrames(int fd) {
  uint32_t wanted = 1;
  (void)!pwrite(fd, &wanted, sizeof wanted,
                MPG_STATE_PROFILE + offsetof(mpg_profile, wantsFrames));
}

template <typename Value>
static bool readAt(int fd, uint64_t offset, Value *values, size_t count) {
  return pread(fd, values, count * sizeof(Value),
               off_t(MPG_STATE_PROFILE + offset)) ==
         ssize_t(count * sizeof(Value));
}

unsigned mpg::countSites(int fd) {
  uint32_t count;
  static_assert(offsetof(mpg_profile, siteCount) == 0);
  if (fd < 0 || !readAt(fd, 0, &count, 1))
    return 0;
  return std::min<uint32_t>(count, MPG_PROFILE_SITES);
}

std::vector<mpg_profile_block> mpg::readProfileBlocks(int fd) {
  uint32_t counts[2];
  static_assert(offsetof(mpg_profile, blockCount) == sizeof(uint32_t));
  if (fd < 0 || !readAt(fd, 0, counts, 2))
    return {};
  std::vector<mpg_profile_block> blocks(
      std::min<uint32_t>(counts[1], MPG_PROFILE_BLOCKS));
  if (!readAt(fd, offsetof(mpg_profile, blocks), blocks.data(), blocks.size()))
    return {};
  uint32_t sites = std::min<uint32_t>(counts[0], MPG_PROFILE_SITES);
  auto isWrong = [&](mpg_profile_block &block) {
    --block.site;
    return block.site >= sites || block.bytes == 0 ||
           block.start + block.bytes < block.start;
  };
  blocks.erase(std::remove_if(blocks.begin(), blocks.end(), isWrong),
               blocks.end());
  return blocks;
}

ProfileTable mpg::readProfileTable(int fd) {
  ProfileTable table;
  // The blocks first: their sites are there.
  table.blocks = readProfileBlocks(fd);
  table.sites.resize(countSites(fd));
  if (fd < 0 || !readAt(fd, offsetof(mpg_profile, sites), table.sites.data(),
                        table.sites.size()))
    return {};
  (void)!readAt(fd, offsetof(mpg_profile, blocksLost), &table.blocksLost, 1);
  return table;
}

// Visits births and deaths of blocks and the faults in the order in which they
// happened.

/// Divides addresses outside of blocks into pieces of this size, up to a number
/// of pieces that a terabyte of variables would need.
static constexpr uint64_t pieceBytes = 64 << 10;
static constexpr size_t maxPieces = size_t(1) << 24;

void FaultCount::add(const FaultCount &other) {
  faults += other.faults;
  for (auto [thread, count] : other.threads)
    threads[thread] += count;
}

void FaultCount::scale(double factor) {
  faults = uint64_t(double(faults) * factor);
  for (auto &[thread, count] : threads)
    count = uint64_t(double(count) * factor);
}

namespace {

struct Event {
  uint64_t timeNs;
  enum Kind : uint8_t { birth, fault, death } kind; ///< so at the same time
  size_t index;
};

} // namespace

static std::vector<Event>
orderEvents(const std::vector<AddressSample> &samples,
            const std::vector<mpg_profile_block> &blocks) {
  std::vector<Event> events;
  uint64_t first = UINT64_MAX;
  for (size_t i = 0; i < samples.size(); ++i) {
    events.push_back({samples[i].timeNs, Event::fault, i});
    first = std::min(first, samples[i].timeNs);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].diedNs && blocks[i].diedNs < first)
      continue;
    events.push_back({blocks[i].bornNs, Event::birth, i});
    if (blocks[i].diedNs)
      events.push_back({blocks[i].diedNs, Event::death, i});
  }
  stableSort(events, [](const Event &a, const Event &b) {
    return a.timeNs != b.timeNs ? a.timeNs < b.timeNs : a.kind < b.kind;
  });
  return events;
}

void ProfileFaults::add(std::vector<AddressSample> samples,
                        const std::vector<mpg_profile_block> &blocks) {
  if (samples.empty())
    return;
  std::map<uint64_t, size_t> live; // by first address
  for (const Event &event : orderEvents(samples, blocks)) {
    if (event.kind == Event::birth) {
      live[blocks[event.index].start] = event.index;
      continue;
    }
    if (event.kind == Event::death) {
      auto block = live.find(blocks[event.index].start);
      if (block != live.end() && block->second == event.index)
        live.erase(block);
      continue;
    }
    const AddressSample &sample = samples[event.index];
    faults += sample.events;
    auto next = live.upper_bound(sample.address);
    if (next != live.begin()) {
      const mpg_profile_block &block = blocks[std::prev(next)->second];
      if (sample.address - block.start < block.bytes) {
        sites[block.site].add(sample.thread, sample.events);
        continue;
      }
    }
    uint64_t piece = sample.address / pieceBytes * pieceBytes;
    if (others.size() < maxPieces || others.count(piece))
      others[piece].add(sample.thread, sample.events);
  }
}

FaultCount ProfileFaults::atSite(uint32_t site) const {
  auto found = sites.find(site);
  return found == sites.end() ? FaultCount() : found->second;
}

FaultCount ProfileFaults::within(uint64_t start, uint64_t end) const {
  FaultCount count;
  for (auto piece = others.lower_bound(start);
       piece != others.end() && piece->first < end; ++piece)
    count.add(piece->second);
  return count;
}

// The cost of a fault

static double threadNs() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

static long threadFaults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// CPU time of a fault in new memory with \p advice; 0 if the pages are not of
/// \p pageBytes.
static double nsOfFault(int advice, size_t pageBytes) {
  void *memory = mmap(nullptr, 2 * hugeFrameBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 0;
  auto *hugeFrame = reinterpret_cast<volatile char *>(
      alignTo(uintptr_t(memory), hugeFrameBytes));
  madvise(const_cast<char *>(hugeFrame), hugeFrameBytes, advice);
  // An eighth of the frame is enough of its base pages.
  size_t touchedBytes = std::max(hugeFrameBytes / 8, pageBytes);
  auto touch = [&](size_t stepBytes) {
    for (size_t at = 0; at < touchedBytes; at += stepBytes)
      hugeFrame[at] = 1;
  };
  long faults = threadFaults();
  double start = threadNs();
  touch(pageBytes);
  double ns = threadNs() - start;
  hugeFrame[hugeFrameBytes - 1] = 1; // a fault more unless it is large
  faults = threadFaults() - faults;
  munmap(memory, 2 * hugeFrameBytes);
  auto timed = long(touchedBytes / pageBytes);
  bool isLarge = faults == 1;
  return isLarge == (pageBytes == hugeFrameBytes) ? ns / double(timed) : 0;
}

static double minNs(int advice, size_t pageBytes) {
  double min = 0;
  for (int round = 0; round < 3; ++round) {
    double ns = nsOfFault(advice, pageBytes);
    if (ns > 0 && (min == 0 || ns < min))
      min = ns;
  }
  return min;
}

FaultCosts mpg::measureFaultCosts() {
  return {minNs(MADV_NOHUGEPAGE, size_t(sysconf(_SC_PAGESIZE))),
          minNs(MADV_HUGEPAGE, hugeFrameBytes)};
}
