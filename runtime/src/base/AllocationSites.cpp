// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See AllocationSites.h. The callers are found by the C library's unwinder,
// which takes some microseconds: as long as it takes to clear a few pages of
// such a block.

#include "base/AllocationSites.h"
#include "base/Check.h"

#include "base/Messages.h"
#include "base/ProcessLock.h"
#include "base/Range.h"
#include "base/Syscall.h"
#include "mpg/pagemap.h"
#include "mpg/profile.h"
#include "mpg/state.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

using namespace mpg;

// Frames that are mappings of their own. For `mpgrun --profile --working-set`:
// the kernel reports only for a whole mapping how much of it was accessed,
// except to root. Mappings stay separate when they differ in some property; the
// one that matters least to a program is whether core files include them. A
// name (PR_SET_VMA_ANON_NAME) would be better, but Debian's kernel lacks it.

static constexpr uint64_t maxBlockMarks = 256;
/// Two mappings each, of the 65,530 that a process may have.
static constexpr uint32_t maxMarks = 8192;

static uint32_t marksInUse;

/// Adds \p marks to those in use. False: that would be too many.
static bool reserveMarks(uint32_t marks) {
  uint32_t used = __atomic_load_n(&marksInUse, __ATOMIC_RELAXED);
  do {
    if (used + marks > maxMarks)
      return false;
  } while (!__atomic_compare_exchange_n(&marksInUse, &used, used + marks, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

/// Forgets the marks of a freed block.
static void forgetMarks(uint32_t marks) {
  __atomic_fetch_sub(&marksInUse, marks, __ATOMIC_RELAXED);
}

/// Marks some of the 2 MiB frames that lie wholly in [\p start, \p end), so
/// that those between two of them are mappings, too. Returns their number, 0 if
/// the process would have too many mappings. Thread-safe.
static uint32_t markHugeFrames(uint64_t start, uint64_t end) {
  uint64_t first = roundUp(start, hugeFrameBytes),
           last = roundDown(end, hugeFrameBytes);
  if (first >= last)
    return 0;
  uint64_t frames = (last - first) / hugeFrameBytes;
  uint64_t step = frames > 2 * maxBlockMarks ? frames / maxBlockMarks : 2;
  uint32_t marks = uint32_t((frames + step - 1) / step);
  if (!reserveMarks(marks))
    return 0;
  for (uint64_t at = first; at < last; at += step * hugeFrameBytes)
    adviseMemory({at, at + hugeFrameBytes}, MADV_DONTDUMP);
  return marks;
}

/// Marks frames of the program's own .data and .bss.
static void markProgram() {
  uint64_t headers = getauxval(AT_PHDR), count = getauxval(AT_PHNUM);
  const auto *header = reinterpret_cast<const ElfW(Phdr) *>(headers);
  uint64_t base = 0;
  for (uint64_t i = 0; i < count; ++i)
    if (header[i].p_type == PT_PHDR)
      base = headers - header[i].p_vaddr;
  for (uint64_t i = 0; i < count; ++i) {
    const ElfW(Phdr) &one = header[i];
    if (one.p_type == PT_LOAD && one.p_flags & PF_W)
      markHugeFrames(base + one.p_vaddr, base + one.p_vaddr + one.p_memsz);
  }
}

/// \p marks: what markHugeFrames() returned for this block, which is still
/// mapped.
static void unmarkHugeFrames(uint64_t start, uint64_t end, uint32_t marks) {
  if (!marks)
    return;
  adviseMemory(innerHugeFrames({start, end}, hugeFrameBytes), MADV_DODUMP);
  forgetMarks(marks);
}

// Blocks

// Missing from static programs that do not use it, and from some C libraries.
extern "C" int backtrace(void **frames, int max) __attribute__((weak));

// Where this library's code lies; in a static program, all of it.
extern "C" const char mpgStart[] __asm__("__ehdr_start")
    __attribute__((visibility("hidden"), weak));
extern "C" const char mpgEnd[] __asm__("etext")
    __attribute__((visibility("hidden"), weak));

size_t mpg::watchedBytes = SIZE_MAX;

static mpg_profile *table;
static uint32_t owner; ///< the process whose blocks they are
static ProcessLock tableLock;
/// The unwinder loads a library when it is first used, which may allocate.
static __thread bool isInside __attribute__((tls_model("initial-exec")));

void mpg::startAllocationSites(int fd) {
  table = static_cast<mpg_profile *>(
      mapStatePart(fd, MPG_STATE_PROFILE, sizeof(mpg_profile)));
  if (!table)
    return;
  // Of the program that this process was before it called exec.
  if (table->siteCount) {
    uint32_t wantsFrames = table->wantsFrames;
    memset(table, 0, offsetof(mpg_profile, sites));
    table->wantsFrames = wantsFrames;
  }
  if (table->wantsFrames)
    markProgram();
  owner = uint32_t(rawCall(SYS_getpid));
  watchedBytes = MPG_PROFILE_LEAST;
}

namespace {

/// Permission to use the tables. Refused in a child, which shares them with its
/// parent, and inside a call that has it already.
class Turn {
public:
  Turn()
      : isMine(!isInside && table && owner == uint32_t(rawCall(SYS_getpid))),
        savedErrno(errno) {
    isInside |= isMine;
  }
  ~Turn() {
    isInside &= !isMine;
    errno = savedErrno;
  }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;
  explicit operator bool() const { return isMine; }

private:
  bool isMine;
  int savedErrno;
};

} // namespace

static uint64_t nowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

static uint32_t getBucket(uint64_t value) {
  static_assert((MPG_PROFILE_BUCKETS & (MPG_PROFILE_BUCKETS - 1)) == 0);
  return uint32_t(value * 0x9e3779b97f4a7c15 >> 32) & (MPG_PROFILE_BUCKETS - 1);
}

// Sites

namespace {

/// The callers, innermost first.
struct Callers {
  uint64_t frames[MPG_PROFILE_FRAMES] = {};
  bool isAgain = false; ///< of a block that is known already

  Callers();
  /// Of a known block.
  explicit Callers(const mpg_profile_site &site) : isAgain(true) {
    memcpy(frames, site.frames, sizeof frames);
  }
  uint32_t bucket() const {
    uint64_t sum = 0;
    for (uint64_t frame : frames)
      sum = sum * 31 + frame;
    return getBucket(sum);
  }
};

} // namespace

/// The first of \p count frames that is not ours: ours differ for one caller.
static int firstCaller(void *const *frames, int count) {
  int first = 0;
  while (first < count && frames[first] >= mpgStart && frames[first] < mpgEnd)
    ++first;
  return first < count ? first : 0;
}

Callers::Callers() {
  if (!backtrace)
    return;
  constexpr int max = MPG_PROFILE_FRAMES + 8;
  void *found[max];
  int count = backtrace(found, max);
  int first = firstCaller(found, count);
  for (int i = 0; i < MPG_PROFILE_FRAMES && first + i < count; ++i)
    frames[i] = uintptr_t(found[first + i]);
}

/// Returns its number; 0: no room. \p flags: of a new site. pre: tableLock.
static uint32_t findSite(const Callers &callers, uint32_t flags) {
  MPG_CHECK(tableLock.isHeld());
  uint32_t &first = table->siteBuckets[callers.bucket()];
  for (uint32_t number = first; number; number = table->sites[number - 1].next)
    if (!memcmp(table->sites[number - 1].frames, callers.frames,
                sizeof callers.frames))
      return number;
  if (table->siteCount == MPG_PROFILE_SITES)
    return 0;
  mpg_profile_site &site = table->sites[table->siteCount++];
  site = {};
  memcpy(site.frames, callers.frames, sizeof callers.frames);
  site.knows = flags;
  site.next = first;
  return first = table->siteCount;
}

static void addTo(mpg_profile_site &site, uint64_t bytes) {
  site.liveBytes += bytes;
  if (site.peakBytes < site.liveBytes)
    site.peakBytes = site.liveBytes;
}

// Blocks

/// The entry of a block in use, as a reference to the number that leads to it;
/// that is 0 if there is none. pre: tableLock.
static uint32_t &findBlock(uint64_t start) {
  MPG_CHECK(tableLock.isHeld());
  uint32_t *number = &table->blockBuckets[getBucket(start)];
  while (*number && table->blocks[*number - 1].start != start)
    number = &table->blocks[*number - 1].next;
  return *number;
}

/// The number of an entry for another block; 0: all are in use. Reuses the
/// oldest freed entry, because page faults in a freed block are reported a
/// moment later.
static uint32_t allocateEntry() {
  if (table->blockCount < MPG_PROFILE_BLOCKS)
    return ++table->blockCount;
  uint32_t number = table->firstFree;
  if (number)
    table->firstFree = table->blocks[number - 1].next;
  return number;
}

static void releaseEntry(uint32_t number) {
  table->blocks[number - 1].next = 0;
  if (table->firstFree)
    table->blocks[table->lastFree - 1].next = number;
  else
    table->firstFree = number;
  table->lastFree = number;
}

/// Takes the block that \p link leads to out of its bucket. Its site, or null.
static mpg_profile_site *removeBlock(uint32_t &link, uint64_t now) {
  uint32_t number = link;
  mpg_profile_block &block = table->blocks[number - 1];
  mpg_profile_site *site = &table->sites[block.site - 1];
  link = block.next;
  block.diedNs = now;
  forgetMarks(block.marks);
  block.marks = 0;
  --site->liveBlocks;
  site->liveBytes -= block.bytes;
  releaseEntry(number);
  return site;
}

static void addBlock(uint64_t start, uint64_t bytes, const Callers &callers,
                     uint64_t now, uint32_t flags = 0) {
  uint32_t marks =
      table->wantsFrames ? markHugeFrames(start, start + bytes) : 0;
  Locked hold(tableLock);
  // It was freed by a call that libmpg does not see.
  if (uint32_t &old = findBlock(start))
    removeBlock(old, now);
  uint32_t site = findSite(callers, flags);
  uint32_t number = site ? allocateEntry() : 0;
  if (!number) {
    ++table->blocksLost;
    unmarkHugeFrames(start, start + bytes, marks);
    return;
  }
  uint32_t &first = table->blockBuckets[getBucket(start)];
  table->blocks[number - 1] = {start, bytes, now, 0, site, first, marks};
  first = number;
  mpg_profile_site &of = table->sites[site - 1];
  of.blocks += !callers.isAgain;
  ++of.liveBlocks;
  addTo(of, bytes);
}

void mpg::noteBlock(const void *block, size_t bytes) {
  if (Turn turn; turn)
    addBlock(uintptr_t(block), bytes, Callers(), nowNs());
}

void mpg::noteMapping(const void *start, size_t bytes, uint32_t site) {
  if (Turn turn; turn)
    addBlock(uintptr_t(start), bytes,
             site ? Callers(table->sites[site - 1]) : Callers(), nowNs(),
             MPG_PROFILE_MAPPED);
}

void mpg::noteResized(const void *block, size_t bytes) {
  bool isKnown = false;
  if (Turn turn; turn) {
    Locked hold(tableLock);
    if (uint32_t number = findBlock(uintptr_t(block))) {
      mpg_profile_block &entry = table->blocks[number - 1];
      addTo(table->sites[entry.site - 1], bytes - entry.bytes);
      entry.bytes = bytes;
      isKnown = true;
    }
  }
  if (!isKnown && bytes >= watchedBytes)
    noteBlock(block, bytes);
}

// Pages of a block

namespace {

/// The pages of a block.
struct BlockPages {
  uint64_t usedBytes = 0, hugeBytes = 0;
  uint32_t knows = 0;

  void scan(uint64_t start, uint64_t end);
  void queryPresent(uint64_t start, uint64_t end);
};

} // namespace

void BlockPages::scan(uint64_t start, uint64_t end) {
  long fd = rawCall(SYS_openat, AT_FDCWD, long("/proc/self/pagemap"),
                    O_RDONLY | O_CLOEXEC);
  if (isError(fd))
    return;
  mpg_scan_region regions[64];
  mpg_scan request = mpg_scan_for(regions, 64, end);
  long count = 0;
  for (uint64_t at = start; at < end && count >= 0; at = request.walkEnd) {
    request.start = at;
    count = rawCall(SYS_ioctl, fd, MPG_PAGEMAP_SCAN, long(&request));
    if (count < 0 || request.walkEnd <= at)
      break;
    knows = MPG_PROFILE_KNOWS_USED | MPG_PROFILE_KNOWS_HUGE;
    for (long i = 0; i < count; ++i) {
      uint64_t bytes = regions[i].end - regions[i].start;
      usedBytes += bytes;
      hugeBytes += regions[i].categories & MPG_PAGE_HUGE ? bytes : 0;
    }
  }
  rawCall(SYS_close, fd);
}

/// Before Linux 6.7: memory that is present, whatever its page size.
void BlockPages::queryPresent(uint64_t start, uint64_t end) {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  unsigned char present[256];
  for (uint64_t at = start; at < end; at += sizeof present * page) {
    uint64_t bytes =
        end - at < sizeof present * page ? end - at : sizeof present * page;
    if (isError(rawCall(SYS_mincore, long(at), long(bytes), long(present))))
      return;
    for (uint64_t i = 0; i < bytes / page; ++i)
      usedBytes += present[i] & 1 ? page : 0;
  }
  knows = MPG_PROFILE_KNOWS_USED;
}

static BlockPages getPages(uint64_t start, uint64_t bytes) {
  uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
  uint64_t end = (start + bytes + page - 1) / page * page;
  start = start / page * page;
  BlockPages pages;
  pages.scan(start, end);
  if (!pages.knows)
    pages.queryPresent(start, end);
  if (pages.usedBytes > bytes)
    pages.usedBytes = bytes;
  if (pages.hugeBytes > pages.usedBytes)
    pages.hugeBytes = pages.usedBytes;
  return pages;
}

void mpg::forgetBlock(const void *block) {
  // Without the lock: only the thread that frees the block knows it.
  if (!table ||
      !__atomic_load_n(&table->blockBuckets[getBucket(uintptr_t(block))],
                       __ATOMIC_RELAXED))
    return;
  Turn turn;
  if (!turn)
    return;
  uint64_t now = nowNs(), bytes = 0;
  mpg_profile_site *site = nullptr;
  {
    Locked hold(tableLock);
    if (uint32_t &link = findBlock(uintptr_t(block))) {
      mpg_profile_block &entry = table->blocks[link - 1];
      bytes = entry.bytes;
      // One mapping again: realloc may have to move all of it.
      unmarkHugeFrames(entry.start, entry.start + bytes, entry.marks);
      entry.marks = 0;
      site = removeBlock(link, now);
    }
    // Checking each free would take too long in programs that allocate often.
    if (!site || bytes <= site->freedBytes + site->freedBytes / 4)
      return;
    site->freedBytes = bytes;
  }
  BlockPages pages = getPages(uintptr_t(block), bytes);
  Locked hold(tableLock);
  site->freedUsedBytes = pages.usedBytes;
  site->freedHugeBytes = pages.hugeBytes;
  site->knows = pages.knows | (site->knows & MPG_PROFILE_MAPPED);
}

/// A program that wants an aligned mapping unmaps its start. The block then
/// starts after that.
uint32_t mpg::forgetMapping(const void *start, size_t bytes) {
  uint32_t site = 0;
  bytes = roundUp(bytes, uint64_t(sysconf(_SC_PAGESIZE)));
  if (Turn turn; turn) {
    Locked hold(tableLock);
    uint32_t &link = findBlock(uintptr_t(start));
    if (!link)
      return 0;
    mpg_profile_block &block = table->blocks[link - 1];
    site = block.site;
    if (bytes < block.bytes) {
      uint32_t number = link;
      link = block.next;
      block.start += bytes;
      block.bytes -= bytes;
      addTo(table->sites[block.site - 1], -bytes);
      uint32_t &first = table->blockBuckets[getBucket(block.start)];
      block.next = first;
      first = number;
      return 0;
    }
  }
  forgetBlock(start);
  return site;
}
