// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps memory on pages of one kind, and reads from the kernel which pages it
// got. A mapping lies inside a larger reserved range. So it starts at a
// multiple of its page, and never merges with a neighbour into one area of
// /proc/self/smaps, which would mix their pages.
//
// Large pages can be missing although mmap promised them (limits of control
// groups, of memory policies); touching such a page kills by SIGBUS. So the
// same number of pages is allocated first, in a way that returns fewer instead,
// and then released. A race remains with other programs that use the pool
// meanwhile.

#include "mpgbench/Run/BenchMemory.h"
#include "Node/Node.h"
#include "Process/Smaps.h"
#include "Support/Format.h"
#include "mpg/mpg.h"
#include "llvm/ADT/STLExtras.h"
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

static int getFlags(const PageKind &kind) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (kind.isHugetlb)
    // Not MAP_NORESERVE: mmap is to fail when the pool is short, not a store.
    flags |= MAP_HUGETLB | int(Log2_64(kind.pageBytes) << hugePageShift);
  return flags;
}

// Mapping

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
                     getFlags(kind) | MAP_POPULATE, -1, 0);
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
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, getFlags(kind) | MAP_FIXED, -1,
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

// Pages under the memory

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

void mpg::addRangeBacking(const void *p, size_t bytes, Backing &backing) {
  uint64_t begin = uint64_t(uintptr_t(p)), end = begin + bytes;
  for (const MappedArea &area : readSmaps(getpid()))
    if (area.start < end && area.end > begin)
      addPart(area, begin, end, backing);
}

void BenchMemory::addBacking(Backing &backing) const {
  if (start)
    addRangeBacking(start, size, backing);
}

std::string BenchMemory::checkBacking() const {
  if (!start)
    return problem;
  Backing backing;
  addBacking(backing);
  return checkBackingOn(pages, backing);
}

void mpg::measureOn(const Parameters &parameters, size_t bytes,
                    WorkerResult &result,
                    function_ref<void(const BenchMemory &)> body) {
  if (!result.error.empty())
    return;
  BenchMemory memory(bytes, parameter(parameters, "pages"));
  result.error = memory.error();
  if (result.error.empty())
    body(memory);
  memory.addBacking(result.backing);
  if (result.error.empty())
    result.error = memory.checkBacking();
}

// Kinds of pages. Which kinds of pages a node has, and why it cannot give some
// of them now.

static constexpr uint64_t gigabytePageBytes = 1 << 30;

std::string mpg::sizeName(uint64_t bytes) {
  static constexpr const char *units[] = {"", "K", "M", "G"};
  unsigned unit = 0;
  while (unit < 3 && bytes && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + units[unit];
}

static const HugePool *findPool(const PageFacts &pages, uint64_t pageBytes) {
  if (pages.pools)
    for (const HugePool &pool : *pages.pools)
      if (pool.pageBytes == pageBytes)
        return &pool;
  return nullptr;
}

/// Transparent pages and 2 MiB are always listed, if only as missing.
static std::vector<PageKind> getKinds(const PageFacts &pages,
                                      const TransparentFacts &transparent) {
  uint64_t base = pages.baseBytes.valueOr(4096);
  std::vector<PageKind> kinds = {
      {sizeName(base), base, false, false},
      {"THP", transparent.pageBytes.valueOr(largePageBytes), false, true}};
  // By name and size, never the kernel's default size, which is 512 MiB on
  // AArch64 with base pages of 64 KiB. HW:huge-sizes-64k
  for (uint64_t bytes : {largePageBytes, gigabytePageBytes})
    if (bytes == largePageBytes || findPool(pages, bytes))
      kinds.push_back({sizeName(bytes), bytes, true, false});
  return kinds;
}

std::vector<PageKind> mpg::pageKinds(const Node &node) {
  return getKinds(node.pages, node.transparent);
}

Expected<PageKind> mpg::findPageKind(StringRef name) {
  SysTree tree("/");
  std::string names;
  for (PageKind &kind :
       getKinds(readPageFacts(tree), readTransparentFacts(tree))) {
    if (kind.name == name)
      return std::move(kind);
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return createStringError("pages=" + printable(name) + ": this kernel has " +
                           names);
}

// Why not now

/// \p a - \p b, and 0 instead of less.
static uint64_t subtract(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

/// Pages of \p pool that are neither held nor promised.
static uint64_t unclaimed(const HugePool &pool) {
  return subtract(pool.free.valueOr(0), pool.reserved.valueOr(0));
}

static uint64_t pagesFor(uint64_t bytes, uint64_t pageBytes) {
  return bytes / pageBytes + (bytes % pageBytes != 0);
}

/// Pages that are missing in \p pool for \p bytes. The pool may grow by its
/// overcommit, if the kernel finds memory in one piece; mmap tells.
static uint64_t missingPages(const HugePool &pool, uint64_t bytes) {
  uint64_t mayGrow =
      subtract(pool.overcommit.valueOr(0), pool.surplus.valueOr(0));
  return subtract(pagesFor(bytes, pool.pageBytes),
                  addCapped(unclaimed(pool), mayGrow));
}

std::string mpg::poolShortage(const PageFacts &pages, uint64_t pageBytes,
                              uint64_t bytes) {
  if (!pages.pools)
    return pages.pools.unknown;
  const HugePool *pool = findPool(pages, pageBytes);
  if (!pool)
    return "this kernel has no large pages of " + formatBytes(pageBytes);
  if (missingPages(*pool, bytes) == 0)
    return "";
  uint64_t wanted = pagesFor(bytes, pageBytes);
  return countWord(wanted, "page") + " of " + formatBytes(pageBytes) +
         (wanted == 1 ? " is" : " are") + " needed, and " +
         std::to_string(unclaimed(*pool)) + " of " +
         std::to_string(pool->total.valueOr(0)) + " are free";
}

static std::string growCommand(const Node &node, const HugePool &pool,
                               uint64_t bytes) {
  uint64_t more = missingPages(pool, bytes);
  if (pool.pageBytes == largePageBytes)
    return growCommands(node, more).front();
  return "echo " + std::to_string(addCapped(pool.total.valueOr(0), more)) +
         " > /sys/kernel/mm/hugepages/hugepages-" + sysfsSize(pool.pageBytes) +
         "/nr_hugepages";
}

static std::string whyNoPool(const Node &node, const PageKind &kind,
                             uint64_t bytes) {
  std::string shortage = poolShortage(node.pages, kind.pageBytes, bytes);
  if (!shortage.empty()) {
    const HugePool *pool = findPool(node.pages, kind.pageBytes);
    return pool ? shortage + "; " + growCommand(node, *pool, bytes) : shortage;
  }
  // The control groups' limits that were read are those of 2 MiB pages.
  const GroupLimit *limit = node.cgroups.largePages.tightest();
  if (kind.pageBytes == largePageBytes && limit && limit->leftBytes() < bytes)
    return "the control group leaves " + formatBytes(limit->leftBytes()) +
           " of large pages, and " + formatBytes(bytes) + " are needed; " +
           limit->liftCommand();
  return "";
}

static std::string whyNoTransparent(const TransparentFacts &facts,
                                    const PageKind &kind) {
  if (!facts.present)
    return "whether there are transparent huge pages is not known: " +
           facts.present.unknown;
  if (!*facts.present)
    return "this kernel has no transparent huge pages";
  Fact<std::string> word = facts.effective(kind.pageBytes);
  if (!word || *word != "never")
    return "";
  if (facts.processEnabled.valueOr(1) == 0)
    return "this job has transparent huge pages switched off";
  return "transparent huge pages are off (never); echo madvise > "
         "/sys/kernel/mm/transparent_hugepage/enabled";
}

std::string mpg::whyNotNow(const Node &node, const PageKind &kind,
                           uint64_t bytes) {
  if (kind.isHugetlb)
    return whyNoPool(node, kind, bytes);
  std::string why =
      kind.isTransparent ? whyNoTransparent(node.transparent, kind) : "";
  if (!why.empty())
    return why;
  if (node.pages.availableBytes && *node.pages.availableBytes < bytes)
    return formatBytes(bytes) + " of memory are needed, and " +
           formatBytes(*node.pages.availableBytes) + " are available";
  return "";
}

// Results

std::string mpg::checkBackingOn(StringRef pages, const Backing &backing) {
  uint64_t present =
      backing.normalBytes + backing.thpBytes + backing.hugetlbBytes;
  uint64_t right = backing.normalBytes;
  if (pages == "THP")
    right = backing.thpBytes;
  else if (pages == "2M" || pages == "1G")
    right = backing.hugetlbBytes;
  if (present == 0)
    return "/proc/self/smaps shows nothing of the memory";
  if (right >= present - present / 10)
    return "";
  return "only " + formatBytes(right) + " of " + formatBytes(present) +
         " lie on " + pages.str() + " pages";
}
