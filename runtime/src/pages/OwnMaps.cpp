// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two steps, each of which may be skipped. First, a mapping whose place the
// kernel chose is unmapped and mapped again a little lower, at a multiple of
// 2 MiB: with the same arguments and that address as a hint. At no moment does
// this need more memory or address space than the program's own, so it reaches
// no additional limit; if the hint fails the program has what it had. Second,
// all of the mapping is advised, including the odd end: two mappings where the
// program made one would make its mremap() fail.
//
// For the same reason, memory that the program later maps over a part of an
// advised mapping, to empty or to fill it (MAP_FIXED), is advised as well,
// small or not. So the advised frames are kept in a table. It may drop entries,
// because that costs large pages and nothing else.
//
// Mappings for other purposes are skipped (stacks, files, pages of the pool,
// memory that must be present at once), and so are those larger than the
// machine's memory: they are address space, of which few pages are used.

#include "pages/OwnMaps.h"
#include "base/Cgroup.h"
#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "pages/Pages.h"
#include "pages/Shortage.h"

#include <atomic>
#include <errno.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 // Linux 4.17
#endif
#ifndef MAP_32BIT
#define MAP_32BIT 0 // x86-64 only
#endif

using namespace mpg;

static constexpr size_t minBytes = 4 << 20;
/// Of 65,530 that a process may have (vm.max_map_count, measured). Mappings
/// that begin on a border of their own are not joined to one.
static constexpr size_t maxMappings = 32768;

namespace {

/// Frames by their number, one for each remainder.
class FrameTable {
public:
  bool has(uintptr_t frame) const {
    return slot(frame).load(std::memory_order_relaxed) == frame;
  }
  void insert(uintptr_t frame) {
    slot(frame).store(frame, std::memory_order_relaxed);
  }
  void drop(uintptr_t frame) {
    slot(frame).compare_exchange_strong(frame, 0, std::memory_order_relaxed);
  }
  static constexpr size_t max = 1 << 15; ///< 64 GiB

private:
  std::atomic<uintptr_t> &slot(uintptr_t frame) const {
    return slots[frame % max];
  }
  alignas(64) mutable std::atomic<uintptr_t> slots[max];
};

struct OwnMaps {
  bool isOn;
  uint64_t maxBytes; ///< of one mapping: the machine's memory
  std::atomic<uint64_t> number;
  std::atomic<bool> isFull; ///< the process has very many mappings
  FrameTable frames;
};

} // namespace

/// Without a constructor, which would run after our start-up and undo it.
static OwnMaps maps;

static void reportNothingCanBeDone(Messages &messages) {
  LineBuffer line(
      "MPG_MMAP=thp: memory that the program maps itself stays on normal "
      "pages; cost: more TLB misses on it; cause: ");
  if (!mpg_sees_maps || !mpg_sees_maps())
    line.add("its calls of mmap do not come to libmpg; fix: link it "
             "dynamically, with libmpgrt before the C library, or use mpgrun");
  else
    explainShortage(line, Source::thp, hugeFrameBytes, 0, 0);
  messages.report(MPG_MSG_KERNEL, line);
}

void mpg::startOwnMaps(const Config &config, Messages &messages) {
  if (!config.advisesMaps)
    return;
  if (!mpg_sees_maps || !mpg_sees_maps() || !thpIsAllowed() || tryAdvice()) {
    reportNothingCanBeDone(messages);
    return;
  }
  if (!readMemoryInfo("MemTotal:", maps.maxBytes))
    maps.maxBytes = UINT64_MAX;
  maps.isOn = true;
}

bool mpg::watchesOwnMaps() { return maps.isOn; }

// The table

void mpg::forgetOwnMap(Range range) {
  Range inner = innerHugeFrames(range, hugeFrameBytes);
  size_t count = inner.bytes() / hugeFrameBytes;
  if (count > FrameTable::max)
    count = FrameTable::max; // a mapping that is larger was never put there
  for (uintptr_t frame = inner.start / hugeFrameBytes; count > 0; --count)
    maps.frames.drop(frame++);
}

static void remember(Range range) {
  if (range.bytes() / hugeFrameBytes >= FrameTable::max)
    return; // it would push out all others
  for (uintptr_t frame = range.start / hugeFrameBytes;
       frame * hugeFrameBytes < range.end; ++frame)
    maps.frames.insert(frame);
}

static bool isRemembered(uintptr_t address) {
  return maps.frames.has(address / hugeFrameBytes);
}

void mpg::moveOwnMap(Range from, Range to) {
  bool isAdvised = isRemembered(from.start);
  forgetOwnMap(from);
  if (isAdvised)
    remember(to);
  else
    forgetOwnMap(to);
}

// Mappings

static bool isFixed(int flags) {
  return flags & (MAP_FIXED | MAP_FIXED_NOREPLACE);
}

/// Private anonymous memory without a flag that matters here.
static bool isPlain(int flags) {
  constexpr int harmless = MAP_NORESERVE | MAP_FIXED | MAP_FIXED_NOREPLACE |
                           MAP_32BIT | MAP_DENYWRITE | MAP_EXECUTABLE;
  return (flags & ~harmless) == (MAP_PRIVATE | MAP_ANONYMOUS);
}

/// Whether one more mapping may be kept apart from its neighbours. Counts all
/// mappings at every 1,024th call, but not in a process that has sandboxed
/// itself, which may die of opening a file.
static bool hasMappingsLeft() {
  uint64_t number = maps.number.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number % 1024 == 0) {
    maps.isFull = isLockedIn ? number > maxMappings / 2
                             : countMappings(maxMappings) == maxMappings;
  }
  return !maps.isFull;
}

/// Repeats the request at the border below \p result. Another thread may take
/// the addresses first, or the rest of a limit: then the result is as if that
/// thread had come first.
static void *moveToBorder(const MapCalls &calls, const MapRequest &request,
                          void *result) {
  uintptr_t border = roundDown(uintptr_t(result), hugeFrameBytes);
  if (border == uintptr_t(result) || !border ||
      calls.unmap(result, request.bytes))
    return result;
  return calls.map(reinterpret_cast<void *>(border), request.bytes,
                   request.protection, request.flags, request.file,
                   request.offset);
}

void *mpg::adviseOwnMap(const MapCalls &calls, const MapRequest &request,
                        void *result) {
  size_t bytes = roundUp(request.bytes, basePageBytes());
  auto getRange = [&](void *start) {
    return Range{uintptr_t(start), uintptr_t(start) + bytes};
  };
  bool isPart = isFixed(request.flags) && isRemembered(uintptr_t(result));
  forgetOwnMap(getRange(result));
  if (!isPlain(request.flags))
    return result;
  bool isLarge = bytes >= minBytes && bytes <= maps.maxBytes;
  int saved = errno;
  if (!isPart && !(isLarge && hugePagesFitGroup(bytes) && hasMappingsLeft())) {
    errno = saved;
    return result;
  }
  // Addresses below 2 GiB are scarce: leave those mappings in place.
  if (!request.address && !isFixed(request.flags) &&
      !(request.flags & MAP_32BIT))
    result = moveToBorder(calls, request, result);
  if (result == MAP_FAILED)
    return result;
  adviseHuge(getRange(result), /*collapse=*/false);
  remember(getRange(result));
  errno = saved;
  return result;
}
