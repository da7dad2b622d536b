// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds memory on large pages away from the program, proves that it is
// present, and moves it in. Pages.h has the reason for this order.
//
// Between the copy of a piece and its move only locals and raw system calls are
// used: in a static program libmpg's own variables and libc's may be in that
// piece.

#include "pages/Pages.h"
#include "base/Check.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "mpg/advice.h"

#include <atomic>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

using namespace mpg;

namespace {

struct Kernel {
  size_t pageBytes = 0; ///< 0: not probed
  /// Whether mremap is there and not forbidden, for both kinds of memory. Tried
  /// at the first need: most programs have none. -1: not yet.
  std::atomic<int> movesMappings{-1}, movesHugetlb{-1};
  bool thpAllowed = false;
};

} // namespace

static Kernel kernel;

// Younger than the C library headers of the oldest systems we build on.
static constexpr unsigned fileHugetlb = 4;    // MFD_HUGETLB, Linux 4.14
static constexpr unsigned fileNoExecSeal = 8; // MFD_NOEXEC_SEAL, Linux 6.3
static constexpr unsigned hugeShift = 26;     // MAP_HUGE_SHIFT

static constexpr int readWrite = PROT_READ | PROT_WRITE;
static constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;

static unsigned floorLog2(size_t bytes) {
  return unsigned(__builtin_ctzll(bytes));
}

/// Ask for the size by name: on a kernel with 64 KiB base pages the default
/// huge page can be 512 MiB.
static int hugetlbFlags(size_t hugePageBytes) {
  return anonymous | MAP_HUGETLB | int(floorLog2(hugePageBytes) << hugeShift);
}

int mpg::mapFlags(Source source, size_t hugePageBytes) {
  return source == Source::hugetlb ? hugetlbFlags(hugePageBytes) : anonymous;
}

// Abilities of this kernel

/// Moves one untouched page inside a separate reservation. Before Linux 5.16
/// hugetlb mappings cannot be moved, and the attempt destroys the old memory at
/// the target, so this finds out beforehand.
static int tryMove(size_t bytes, int flags) {
  long reserved = mapMemory(0, 3 * bytes, PROT_NONE, anonymous | MAP_NORESERVE);
  if (isError(reserved))
    return int(-reserved);
  uintptr_t from = roundUp(uintptr_t(reserved), bytes);
  uintptr_t to = from + bytes;
  // The only use of MAP_NORESERVE: it needs no page of the pool, and the
  // mapping is never touched.
  long result =
      mapMemory(from, bytes, readWrite, flags | MAP_FIXED | MAP_NORESERVE);
  if (!isError(result))
    result = rawCall(SYS_mremap, long(from), long(bytes), long(bytes),
                     MREMAP_MAYMOVE | MREMAP_FIXED, long(to));
  // Where nothing is mapped any more, another thread may have mapped something.
  uintptr_t end = uintptr_t(reserved) + 3 * bytes;
  bool targetIsGone = result == -EINVAL;
  unmapMemory({uintptr_t(reserved), isError(result) ? to : from});
  unmapMemory({targetIsGone ? to + bytes : to, end});
  return toError(result);
}

/// Bytes that one entry of the upper page table maps: a table is a base page.
static size_t upperPageBytes() { return basePageBytes() / 8 * basePageBytes(); }

static bool isOn(const char *file) {
  char text[64];
  return readSmallFile(file, text, sizeof text) > 0 && !strstr(text, "[never]");
}

bool mpg::thpOf2MibIsOn() {
  char own[64];
  bool isCommonOn = isOn(MPG_THP_FOLDER "enabled");
  // Since Linux 6.8 each size has its own setting, which wins.
  if (readSmallFile(MPG_THP_FOLDER MPG_THP_2M, own, sizeof own) <= 0)
    return isCommonOn && upperPageBytes() == hugeFrameBytes;
  return strstr(own, "[inherit]") ? isCommonOn : !strstr(own, "[never]");
}

/// PR_SET_THP_DISABLE with PR_THP_DISABLE_EXCEPT_ADVISED (Linux 6.18) exempts
/// advised memory, and libmpg advises. 1 alone disables all of it.
static bool isOffForProcess() {
  return rawCall(SYS_prctl, PR_GET_THP_DISABLE) == 1;
}

static bool readThpAllowed() {
  // Larger pages are used in mappings that are as large.
  bool isLargerOn =
      upperPageBytes() > hugeFrameBytes && isOn(MPG_THP_FOLDER "enabled");
  return (thpOf2MibIsOn() || isLargerOn) && !isOffForProcess();
}

static size_t readPageBytes() {
  unsigned long bytes = getauxval(AT_PAGESZ);
  return bytes ? bytes : 4096;
}

void mpg::probePages(bool forceCopyBack) {
  kernel.pageBytes = readPageBytes();
  kernel.thpAllowed = readThpAllowed();
  kernel.movesMappings = forceCopyBack ? 0 : -1;
  kernel.movesHugetlb = -1;
}

static bool canMovePages(std::atomic<int> &answer, size_t bytes, int flags) {
  int known = answer.load(std::memory_order_relaxed);
  if (known < 0) {
    known = tryMove(bytes, flags) == 0;
    answer.store(known, std::memory_order_relaxed);
  }
  return known != 0;
}

size_t mpg::basePageBytes() {
  // Functions that a program calls itself work before the probe, too.
  return kernel.pageBytes ? kernel.pageBytes : readPageBytes();
}

bool mpg::thpIsAllowed() { return kernel.thpAllowed; }

bool mpg::thpIsCounted() { return upperPageBytes() == hugeFrameBytes; }

bool mpg::canMove(Source source) {
  bool isHugetlb = source == Source::hugetlb || source == Source::hugetlbFile;
  return canMovePages(kernel.movesMappings, basePageBytes(), anonymous) &&
         (!isHugetlb || canMovePages(kernel.movesHugetlb, hugeFrameBytes,
                                     hugetlbFlags(hugeFrameBytes)));
}

// New memory

/// The file has no size yet: a mapping that can be written to gives it one.
/// ftruncate() would do the same, but counts against RLIMIT_FSIZE, which ends
/// the program by SIGXFSZ.
static int openHugeFile(const char *name, size_t hugePageBytes) {
  unsigned flags =
      MFD_CLOEXEC | fileHugetlb | floorLog2(hugePageBytes) << hugeShift;
  // Without the seal newer kernels write a line about us into their log.
  long fd = rawCall(SYS_memfd_create, long(name), flags | fileNoExecSeal);
  if (fd == -EINVAL)
    fd = rawCall(SYS_memfd_create, long(name), flags);
  return int(fd);
}

/// hugetlb memory where the kernel likes, or a negative errno.
static long mapHugetlb(size_t bytes, size_t hugePageBytes, int flags, int fd) {
  long at = mapMemory(0, bytes, readWrite, flags, fd);
  if (!isError(at) && at % long(hugePageBytes) == 0)
    return at;
  if (!isError(at))
    unmapMemory({uintptr_t(at), uintptr_t(at) + bytes});
  else if (at != -EINVAL)
    return at;
  // An emulator (qemu-user 7.2) chooses an address that is not aligned and is
  // refused by the kernel: choose one inside of a reservation.
  long reserved =
      mapMemory(0, bytes + hugePageBytes, PROT_NONE, anonymous | MAP_NORESERVE);
  if (isError(reserved))
    return reserved;
  uintptr_t start = roundUp(uintptr_t(reserved), hugePageBytes);
  at = mapMemory(start, bytes, readWrite, flags | MAP_FIXED, fd);
  unmapMemory({uintptr_t(reserved), start});
  unmapMemory({start + bytes, uintptr_t(reserved) + bytes + hugePageBytes});
  // After a failure the inside is either a hole, in which another thread may
  // have mapped something by now, or address space that costs nothing: leave it
  // alone.
  return at;
}

/// Memory on normal pages that begins on a border of frames.
static long mapAligned(size_t bytes, size_t hugePageBytes) {
  if (hugePageBytes <= basePageBytes())
    return mapMemory(0, bytes, readWrite, anonymous);
  if (bytes + hugePageBytes < bytes)
    return -ENOMEM;
  long at = mapMemory(0, bytes + hugePageBytes, readWrite, anonymous);
  if (isError(at))
    return at;
  uintptr_t start = roundUp(uintptr_t(at), hugePageBytes);
  unmapMemory({uintptr_t(at), start});
  unmapMemory({start + bytes, uintptr_t(at) + bytes + hugePageBytes});
  return long(start);
}

int mpg::buildStaged(Source source, size_t bytes, size_t hugePageBytes,
                     const char *name, Staged &staged) {
  MPG_CHECK(isPowerOfTwo(hugePageBytes) && bytes % hugePageBytes == 0);
  staged = Staged{};
  staged.source = source;
  long at;
  if (source == Source::hugetlbFile) {
    int fd = openHugeFile(name, hugePageBytes);
    if (fd < 0)
      return -fd;
    int sizeFlags = int(floorLog2(hugePageBytes) << hugeShift);
    at = mapHugetlb(bytes, hugePageBytes, MAP_PRIVATE | sizeFlags, fd);
    if (isError(at) || canMove(source))
      rawCall(SYS_close, fd);
    else
      staged.fd = fd; // the same file has to be mapped again
  } else if (source == Source::hugetlb) {
    at = mapHugetlb(bytes, hugePageBytes, hugetlbFlags(hugePageBytes), -1);
  } else {
    at = mapAligned(bytes, hugePageBytes);
    // A frame more, for the alignment, may be what a limit on addresses does
    // not leave.
    if (at == -ENOMEM && source == Source::normal)
      at = mapMemory(0, bytes, readWrite, anonymous);
  }
  if (isError(at))
    return int(-at);
  staged.range = {uintptr_t(at), uintptr_t(at) + bytes};
  if (source == Source::thp)
    adviseHuge(staged.range, false);
  return 0;
}

// Through the kernel: for want of a page that is an error and not the signal
// that a store would bring. Works on every kernel and under every system call
// filter that lets threads lock.
bool mpg::touchWord(uintptr_t address) {
  MPG_CHECK(address % 4 == 0);
  constexpr long orZero = (FUTEX_OP_OR << 28) | (FUTEX_OP_CMP_EQ << 24);
  // Again, but not for ever: a filter may answer so each time.
  long result = -EAGAIN;
  for (int tries = 0; tries < 1000 && (result == -EINTR || result == -EAGAIN);
       ++tries)
    result = rawCall(SYS_futex, long(address), FUTEX_WAKE_OP_PRIVATE, 0, 0,
                     long(address), orZero);
  return !isError(result);
}

size_t mpg::populate(Range range, size_t hugePageBytes) {
  // All at once where the kernel can (Linux 5.14). Do not trust the return
  // value: an emulator returns 0 for any advice.
  adviseMemory(range, MPG_ADVICE_POPULATE_WRITE);
  uintptr_t at = range.start;
  while (at < range.end && touchWord(at))
    at += hugePageBytes;
  return at - range.start;
}

void mpg::shrinkStaged(Staged &staged, size_t bytes) {
  unmapMemory({staged.range.start + bytes, staged.range.end});
  staged.range.end = staged.range.start + bytes;
}

void mpg::discard(Staged &staged) {
  // Not through libc: a library that watches memory go has not seen it come,
  // and a fork discards with the heap locked.
  unmapMemory(staged.range);
  if (staged.fd >= 0)
    rawCall(SYS_close, staged.fd);
  staged = Staged{};
}

// Into the place of the old

void mpg::copyPages(uintptr_t to, uintptr_t from, size_t bytes) {
  MPG_CHECK((to | from | bytes) % 4096 == 0);
  MPG_CHECK(to + bytes <= from || from + bytes <= to);
  // Not memcpy: in a static program it is called through a table that may be in
  // the piece that is being replaced.
#if defined(__x86_64__)
  __asm__ volatile("rep movsb"
                   : "+D"(to), "+S"(from), "+c"(bytes)
                   :
                   : "memory");
#else
  uintptr_t end = from + bytes;
  while (from != end)
    __asm__ volatile("ldp q0, q1, [%1], #32\n\t"
                     "stp q0, q1, [%0], #32"
                     : "+r"(to), "+r"(from)
                     :
                     : "v0", "v1", "memory");
#endif
}

bool mpg::isMapped(Range range) {
  unsigned char present[hugeFrameBytes / 4096];
  return rawCall(SYS_mincore, long(range.start), long(range.bytes()),
                 long(present)) != -ENOMEM;
}

int mpg::readIn(Range range) {
  return adviseMemory(range, MPG_ADVICE_POPULATE_READ);
}

size_t mpg::countPresent(Range range) {
  unsigned char present[hugeFrameBytes / 4096];
  MPG_CHECK(range.bytes() <= hugeFrameBytes);
  if (rawCall(SYS_mincore, long(range.start), long(range.bytes()),
              long(present)))
    return SIZE_MAX;
  size_t count = 0;
  for (size_t i = 0; i < range.bytes() / basePageBytes(); ++i)
    count += present[i] & 1;
  return count;
}

static bool isPresent(uintptr_t address, size_t pageBytes) {
  unsigned char present = 0;
  return rawCall(SYS_mincore, long(address), long(pageBytes), long(&present)) ==
             0 &&
         (present & 1);
}

/// Normal pages with the contents of \p from (0: none) over the target.
static void mapNormalPages(uintptr_t target, size_t bytes, uintptr_t from) {
  long at = mapMemory(target, bytes, readWrite, anonymous | MAP_FIXED);
  if (!isError(at) && from)
    copyPages(target, from, bytes);
}

/// Moves \p staged with one system call. On kernels that have passed the probe
/// it fails only when the kernel itself is out of memory; if the old memory is
/// gone by then, the contents are restored on normal pages.
static int moveMapping(Staged &staged, uintptr_t target, size_t pageBytes) {
  size_t bytes = staged.range.bytes();
  long result =
      rawCall(SYS_mremap, long(staged.range.start), long(bytes), long(bytes),
              MREMAP_MAYMOVE | MREMAP_FIXED, long(target));
  if (!isError(result)) {
    staged.range = Range{};
    return 0;
  }
  if (!isMapped({target, target + pageBytes}))
    mapNormalPages(target, bytes, staged.range.start);
  return int(-result);
}

/// Maps new memory of \p source over \p target, replacing any mapping; nothing
/// of it is present yet, and hugetlb memory is reserved. Returns an errno
/// value; the target may then be unmapped. \p fd: for hugetlbFile.
// Between here and the copy the target is empty: no global variable may be read
// or written.
static int mapOver(Range target, Source source, size_t hugePageBytes, int fd) {
  uintptr_t start = target.start;
  size_t bytes = target.bytes();
  int flags = anonymous;
  if (source == Source::hugetlb)
    flags = hugetlbFlags(hugePageBytes);
  else if (source == Source::hugetlbFile)
    flags = MAP_PRIVATE;
  long at = mapMemory(start, bytes, readWrite, flags | MAP_FIXED, fd);
  if (isError(at))
    return int(-at);
  if (source == Source::thp)
    adviseMemory(target, MADV_HUGEPAGE);
  return 0;
}

/// For old kernels. Returns the large pages of \p staged to the pool before it
/// maps new ones, so that the last pages of a pool can be used as well;
/// meanwhile their contents are on normal pages.
static int copyBack(Staged &staged, uintptr_t target, size_t hugePageBytes,
                    Contents contents, size_t pageBytes) {
  size_t bytes = staged.range.bytes();
  bool present =
      contents == Contents::copied || isPresent(staged.range.start, pageBytes);
  uintptr_t aside = 0;
  if (contents == Contents::copied) {
    long at = mapMemory(0, bytes, readWrite, anonymous);
    if (isError(at))
      return int(-at);
    aside = uintptr_t(at);
    copyPages(aside, staged.range.start, bytes);
  }
  int fd = staged.fd;
  Source source = staged.source;
  unmapMemory(staged.range);
  int error = mapOver({target, target + bytes}, source, hugePageBytes, fd);
  if (!error && present &&
      populate({target, target + bytes}, hugePageBytes) != bytes)
    error = ENOMEM;
  if (error)
    mapNormalPages(target, bytes, aside);
  else if (aside)
    copyPages(target, aside, bytes);
  unmapMemory({aside, aside ? aside + bytes : 0});
  if (fd >= 0)
    rawCall(SYS_close, fd);
  staged = Staged{};
  return error;
}

int mpg::moveInto(Staged &staged, uintptr_t target, size_t hugePageBytes,
                  Contents contents) {
  size_t pageBytes = kernel.pageBytes; // read before anything moves
  if (canMove(staged.source))
    return moveMapping(staged, target, pageBytes);
  return copyBack(staged, target, hugePageBytes, contents, pageBytes);
}

// Existing memory

int mpg::adviseHuge(Range range, bool collapse) {
  if (!kernel.thpAllowed || range.empty())
    return 0;
  int error = adviseMemory(range, MADV_HUGEPAGE);
  if (collapse)
    adviseMemory(range, MPG_ADVICE_COLLAPSE);
  return error;
}

int mpg::tryAdvice() {
  size_t bytes = basePageBytes();
  long at = mapMemory(0, bytes, readWrite, anonymous);
  if (isError(at))
    return 0; // that is another cause
  Range page{uintptr_t(at), uintptr_t(at) + bytes};
  int error = adviseMemory(page, MADV_HUGEPAGE);
  unmapMemory(page);
  return error;
}

int mpg::collapse(Range frame) {
  int error = adviseMemory(frame, MPG_ADVICE_COLLAPSE);
  // The kernel's answer to a part that is not mapped, too.
  return error == ENOMEM && !isMapped(frame) ? EINVAL : error;
}
