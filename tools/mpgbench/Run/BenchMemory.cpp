// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps memory on pages of one kind, and reads from the kernel what it became. A
// mapping lies inside a reserved range that is larger than it: so it starts at
// a multiple of its page, and never grows together with a neighbour into one
// area of /proc/self/smaps, where its pages could not be told from the other's.
//
// Large pages can be missing although mmap promised them (limits of control
// groups, of memory policies); touching such a page kills by SIGBUS. So the
// same number of pages is taken and looked at first, by a way that returns with
// less instead, and then given back. What remains is a race with other programs
// that take from the pool meanwhile.

#include "mpgbench/Run/BenchMemory.h"
#include "Process/Smaps.h"
#include "Support/Format.h"
#include "mpg/mpg.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpg;
using namespace llvm;

void *mpg::findLoaded(const char *name) { return dlsym(RTLD_DEFAULT, name); }

std::string mpg::whyWrongHeap(bool wantsLibmpg) {
  // Fujitsu's library of the same link name has no such function.
  bool isLoaded = findLoaded("mpg_version") != nullptr;
  if (!wantsLibmpg)
    return isLoaded ? "libmpg is in this process, and the point is about the C "
                      "library's malloc"
                    : "";
  if (!isLoaded)
    return "libmpg was to be preloaded and is not in the process: the loader "
           "refused it (LD_DEBUG=libs shows why)";
  auto *heapStats = loadedFunction<decltype(mpg_heap_stats)>("mpg_heap_stats");
  struct mpg_heap_stats stats = {};
  stats.structBytes = sizeof(stats);
  if (!heapStats || heapStats(&stats) != 0)
    return "libmpg is in the process, and malloc is not its own: large pages "
           "are switched off, or another library's malloc came first";
  return "";
}

// linux/mman.h, which is not there with every C library.
static constexpr int hugePageShift = 26;

static int flagsOf(const PageKind &kind) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind.isHugetlb)
    // Not MAP_NORESERVE: mmap shall fail when the pool is short, not a store.
    flags |= MAP_HUGETLB | int(Log2_64(kind.pageBytes) << hugePageShift);
  return flags;
}

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

/// Why a mapping of \p bytes failed with \p error.
static std::string describeFailure(const PageKind &kind, size_t bytes,
                                   int error) {
  std::string text = "no memory of " + formatBytes(bytes) + " on " + kind.name +
                     " pages: " + strerror(error);
  std::string shortage =
      kind.isHugetlb
          ? poolShortage(readPageFacts(SysTree("/")), kind.pageBytes, bytes)
          : "";
  return shortage.empty() ? text : text + ": " + shortage;
}

/// Whether \p bytes can be had on large pages; else why not.
static std::string tryPages(const PageKind &kind, size_t bytes) {
  void *trial = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     flagsOf(kind) | MAP_POPULATE, -1, 0);
  if (trial == MAP_FAILED)
    return describeFailure(kind, bytes, errno);
  size_t base = size_t(sysconf(_SC_PAGESIZE)), present = 0;
  for (size_t at = 0; at < bytes; at += kind.pageBytes) {
    unsigned char state = 0;
    if (mincore(static_cast<char *>(trial) + at, base, &state) == 0)
      present += state & 1;
  }
  munmap(trial, bytes);
  size_t wanted = bytes / kind.pageBytes;
  if (present == wanted)
    return "";
  return "only " + std::to_string(present) + " of " + std::to_string(wanted) +
         " pages of " + formatBytes(kind.pageBytes) +
         " came: a limit of a control group or of the memory policy";
}

/// Maps \p bytes onto \p at, which was reserved; errno if not.
static bool mapPages(void *at, size_t bytes, const PageKind &kind) {
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, flagsOf(kind) | MAP_FIXED, -1,
           0) == MAP_FAILED)
    return false;
  if (kind.isTransparent)
    return madvise(at, bytes, MADV_HUGEPAGE) == 0;
  // A kernel without transparent huge pages refuses this, and need not know.
  if (!kind.isHugetlb)
    madvise(at, bytes, MADV_NOHUGEPAGE);
  return true;
}

BenchMemory::BenchMemory(size_t bytes, StringRef pages) : pages(pages.str()) {
  Expected<PageKind> kind = findPageKind(pages);
  if (!kind) {
    problem = toString(kind.takeError());
    return;
  }
  // A transparent page comes only where it fits in. It is 512 MiB on some
  // kernels. HW:huge-sizes-64k
  uint64_t alignment = std::max(kind->pageBytes, largePageBytes);
  if (bytes == 0 || bytes > SIZE_MAX / 4) {
    problem = "no memory of " + formatBytes(bytes) + " can be measured";
    return;
  }
  size_t used = alignTo(bytes, kind->pageBytes);
  if (kind->isHugetlb && !(problem = tryPages(*kind, used)).empty())
    return;
  // One more page on each side, for the borders.
  size_t reserved = used + 2 * alignment;
  void *range = mmap(nullptr, reserved, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    problem = describeFailure(*kind, bytes, errno);
    return;
  }
  void *inside =
      reinterpret_cast<void *>(alignTo(uintptr_t(range) + 1, alignment));
  if (!mapPages(inside, used, *kind)) {
    problem = describeFailure(*kind, bytes, errno);
    munmap(range, reserved);
    return;
  }
  mapping = range;
  mapped = reserved;
  start = inside;
  size = bytes;
}

BenchMemory::~BenchMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

//===----------------------------------------------------------------------===//
// What lies under it
//===----------------------------------------------------------------------===//

/// Adds the part of \p area that lies in [\p begin, \p end). Where the range
/// holds only a part of the area, all of it counts as present, because it was
/// touched, and on transparent huge pages in the area's proportion.
static void addPart(const MappedArea &area, uint64_t begin, uint64_t end,
                    Backing &backing) {
  uint64_t bytes = std::min(area.end, end) - std::max(area.start, begin);
  if (area.hugetlb) {
    backing.hugetlbBytes += bytes;
    return;
  }
  if (area.residentBytes == 0)
    return;
  double share = double(area.thpBytes) / double(area.residentBytes);
  if (bytes == area.bytes())
    bytes = area.residentBytes;
  uint64_t thp = std::min(uint64_t(share * double(bytes)), bytes);
  backing.thpBytes += thp;
  backing.normalBytes += bytes - thp;
}

void mpg::addBackingOf(const void *p, size_t bytes, Backing &backing) {
  uint64_t begin = uint64_t(uintptr_t(p)), end = begin + bytes;
  for (const MappedArea &area : readSmaps(getpid()))
    if (area.start < end && area.end > begin)
      addPart(area, begin, end, backing);
}

void BenchMemory::addBacking(Backing &backing) const {
  if (start)
    addBackingOf(start, size, backing);
}

std::string BenchMemory::checkBacking() const {
  if (!start)
    return problem;
  Backing backing;
  addBacking(backing);
  return checkBackingOn(pages, backing);
}

void mpg::measureOn(StringRef pages, size_t bytes, WorkerResult &result,
                    function_ref<void(const BenchMemory &)> body) {
  if (result.error.empty()) {
    BenchMemory memory(bytes, pages);
    result.error = memory.error();
    if (result.error.empty())
      body(memory);
    memory.addBacking(result.backing);
    if (result.error.empty())
      result.error = memory.checkBacking();
  }
  if (!result.error.empty())
    result.value = 0;
}
