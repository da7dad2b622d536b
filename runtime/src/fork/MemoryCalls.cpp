// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C library's calls that change mappings, for programs that use them on
// base pages of .data, .bss, heap or stack. The kernel is asked first, as
// without libmpg. Only if it refuses and the memory may be on large pages,
// these are replaced by normal ones, and the call is repeated. So errors are
// the kernel's, and other memory costs nothing.
//
// Where the kernel would not refuse but do something else with large pages
// (mremap rounds lengths up, MADV_DONTNEED rounds them down), they are replaced
// before. A system call that goes past the C library is not seen.
//
// With MPG_MMAP=thp new memory passes through pages/OwnMaps.cpp.
//
// Libraries that register memory with a network card (UCX, Open MPI) patch the
// code of munmap and madvise where dlsym() finds them. They must also see the
// calls inside the C library: of free() and for a thread's stack. So dlsym()
// must find the C library's functions. libmpg's have the version of the C
// library's and are hidden: the loader binds programs and libraries to them,
// because these ask for that version; dlsym() asks for no version and does not
// find them.

#include "base/AllocationSites.h"
#include "base/CLibrary.h"
#include "base/Syscall.h"
#include "fork/BasePages.h"
#include "fork/ForkList.h"
#include "heap/Heap.h"
#include "pages/OwnMaps.h"
#include "stack/Stack.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpg;

/// Makes mpg_own_NAME the NAME with the version of the C library's first
/// functions.
#define MPG_HIDE_FROM_DLSYM(name)                                              \
  __asm__(".symver mpg_own_" #name ", " #name "@" MPG_FIRST_VERSION)

/// Whole base pages from \p address on; empty if the kernel refuses them in
/// any case.
static Range roundToPages(const void *address, size_t bytes) {
  auto start = uintptr_t(address);
  size_t page = basePageBytes();
  if (start % page || start + bytes < start || bytes > SIZE_MAX - page)
    return {};
  return {start, start + roundUp(bytes, page)};
}

/// Whether a call that the kernel has refused may be made again. errno stays
/// what it was.
static bool mayTryAgain(Range range, Frames which) {
  int saved = errno;
  bool again = mayBeLarge(range) && leaveLargePages(range, which) == 0;
  errno = saved;
  return again;
}

// Rights

static Next<int(void *, size_t, int)> nextProtect;
static Next<int(void *, size_t, int, int)> nextKeyProtect;

MPG_EXPORT int mprotect(void *address, size_t bytes, int protection) noexcept {
  auto *real = nextProtect.get("mprotect");
  int result = real(address, bytes, protection);
  if (result && errno == EINVAL &&
      mayTryAgain(roundToPages(address, bytes), Frames::atEdges))
    result = real(address, bytes, protection);
  return result;
}

MPG_EXPORT int pkey_mprotect(void *address, size_t bytes, int protection,
                             int key) noexcept {
  auto *real = nextKeyProtect.get("pkey_mprotect"); // glibc 2.27
  if (!real)
    return notThere();
  int result = real(address, bytes, protection, key);
  if (result && errno == EINVAL &&
      mayTryAgain(roundToPages(address, bytes), Frames::atEdges))
    result = real(address, bytes, protection, key);
  return result;
}

// Mappings

static Next<int(void *, size_t)> nextUnmap;
static Next<void *(void *, size_t, int, int, int, off_t)> nextMap;
static Next<void *(void *, size_t, size_t, int, ...)> nextRemap;

MPG_HIDE_FROM_DLSYM(munmap);
MPG_EXPORT int mpg_own_munmap(void *address, size_t bytes) noexcept {
  auto *real = nextUnmap.get("munmap");
  noteUnmap(bytes);
  uint32_t site = isProfiled() ? forgetMapping(address, bytes) : 0;
  int result = real(address, bytes);
  if (result && errno == EINVAL &&
      mayTryAgain(roundToPages(address, bytes), Frames::atEdges))
    result = real(address, bytes);
  if (result && site)
    noteMapping(address, bytes, site);
  if (!result && watchesOwnMaps())
    forgetOwnMap(roundToPages(address, bytes));
  return result;
}

MPG_HIDE_FROM_DLSYM(mmap);
MPG_EXPORT void *mpg_own_mmap(void *address, size_t bytes, int protection,
                              int flags, int file, off_t offset) noexcept {
  auto *real = nextMap.get("mmap");
  void *result = real(address, bytes, protection, flags, file, offset);
  // Kernels before 6.12 say ENOMEM when they cannot unmap what is there.
  if (result == MAP_FAILED && (flags & MAP_FIXED) &&
      (errno == EINVAL || errno == ENOMEM) &&
      mayTryAgain(roundToPages(address, bytes), Frames::atEdges))
    result = real(address, bytes, protection, flags, file, offset);
  if (result != MAP_FAILED && watchesOwnMaps())
    result =
        adviseOwnMap({real, nextUnmap.get("munmap")},
                     {address, bytes, protection, flags, file, offset}, result);
  // A reservation is not in use, and a file has a name.
  bool isMemory = protection != PROT_NONE && (flags & MAP_ANONYMOUS);
  if (result != MAP_FAILED && bytes >= watchedBytes && isMemory)
    noteMapping(result, bytes);
  return result;
}

bool mpg_sees_maps() {
  return dlvsym(RTLD_DEFAULT, "mmap", MPG_FIRST_VERSION) ==
         reinterpret_cast<void *>(mpg_own_mmap);
}

// The same function: offsets have 64 bits here.
MPG_HIDE_FROM_DLSYM(mmap64);
MPG_EXPORT void *mpg_own_mmap64(void *address, size_t bytes, int protection,
                                int flags, int file,
                                __off64_t offset) noexcept {
  return mpg_own_mmap(address, bytes, protection, flags, file, offset);
}

MPG_HIDE_FROM_DLSYM(mremap);
MPG_EXPORT void *mpg_own_mremap(void *address, size_t bytes, size_t newBytes,
                                int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  // As the C library: the register is there whether it was passed or not.
  void *target = va_arg(more, void *);
  va_end(more);
  mayTryAgain(roundToPages(address, bytes), Frames::all);
  if (flags & MREMAP_FIXED)
    mayTryAgain(roundToPages(target, newBytes), Frames::atEdges);
  uint32_t site = isProfiled() ? forgetMapping(address, bytes) : 0;
  void *result =
      nextRemap.get("mremap")(address, bytes, newBytes, flags, target);
  if (site && result == MAP_FAILED)
    noteMapping(address, bytes, site);
  else if (site)
    noteMapping(result, newBytes);
  if (result != MAP_FAILED && watchesOwnMaps())
    moveOwnMap(roundToPages(address, bytes), roundToPages(result, newBytes));
  return result;
}

// Locked memory

static Next<int(int)> nextLockAll;

/// The kernel compares RLIMIT_MEMLOCK with all addresses of the process; large
/// pages for heap and stack are most of them in a small one.
MPG_EXPORT int mlockall(int flags) noexcept {
  auto *real = nextLockAll.get("mlockall");
  int result = real(flags);
  bool mayBeOurs = result && errno == ENOMEM && (flags & MCL_CURRENT);
  if (!mayBeOurs || !hasLargePages())
    return result;
  releaseThpStack();
  int others = flags & ~MCL_CURRENT;
  if (lockAllPages() || (others & ~MCL_ONFAULT && real(others))) {
    munlockall();
    errno = ENOMEM;
    return -1;
  }
  return 0;
}

// Advice

static Next<int(void *, size_t, int)> nextAdvise;
static Next<int(void *, size_t, int)> nextPosixAdvise;

// Younger than the C library headers of the oldest systems we build on.
static constexpr int wipeOnFork = 18, keepOnFork = 19;      // Linux 4.14
static constexpr int cold = 20, pageOut = 21;               // Linux 5.4
static constexpr int installGuard = 102, removeGuard = 103; // Linux 6.13

/// Advice without a visible effect: if the kernel rejects it for a part of a
/// large page, ignoring it is good enough.
static bool isHint(int advice) {
  switch (advice) {
  case MADV_NORMAL:
  case MADV_RANDOM:
  case MADV_SEQUENTIAL:
  case MADV_WILLNEED:
  case MADV_MERGEABLE:
  case MADV_UNMERGEABLE:
  case MADV_HUGEPAGE:
  case MADV_NOHUGEPAGE:
  case MADV_DONTDUMP:
  case MADV_DODUMP:
  case cold:
  case pageOut:
    return true;
  }
  return false;
}

static bool needsBasePages(int advice) {
  return advice == MADV_DONTFORK || advice == MADV_DOFORK ||
         advice == wipeOnFork || advice == keepOnFork ||
         advice == installGuard || advice == removeGuard;
}

/// Whether \p advice can be given to whole large pages.
static Frames framesFor(int advice) {
  bool isForWhole = advice == MADV_DONTFORK || advice == MADV_DOFORK;
  return isForWhole ? Frames::atEdges : Frames::all;
}

MPG_HIDE_FROM_DLSYM(madvise);
MPG_EXPORT int mpg_own_madvise(void *address, size_t bytes,
                               int advice) noexcept {
  Range range = roundToPages(address, bytes);
  if (advice == MADV_NOHUGEPAGE && watchesOwnMaps())
    forgetOwnMap(range);
  auto *real = nextAdvise.get("madvise");
  if ((advice == MADV_DONTNEED || advice == MADV_FREE) && mayBeLarge(range)) {
    int saved = errno, error = emptyPages(range, advice, real);
    errno = error ? error : saved;
    return error ? -1 : 0;
  }
  int result = real(address, bytes, advice);
  // The kernel takes hugetlb pages for a file; for the program they are none.
  if (result && advice == MADV_REMOVE && errno == EACCES && mayBeLarge(range))
    errno = EINVAL;
  if (!result || errno != EINVAL)
    return result;
  if (isHint(advice) && mayBeLarge(range))
    return 0;
  // libibverbs asks this for memory that it registers. A fork gives the child a
  // copy of such memory (Fork.cpp), so the frames stay the parent's without the
  // advice.
  bool isAboutFork = advice == MADV_DONTFORK || advice == MADV_DOFORK;
  if (isAboutFork && mayBeLarge(range) && memoryMayBePinned())
    return 0;
  if (needsBasePages(advice) && mayTryAgain(range, framesFor(advice)))
    return real(address, bytes, advice);
  return result;
}

MPG_EXPORT int posix_madvise(void *address, size_t bytes, int advice) noexcept {
  int error = nextPosixAdvise.get("posix_madvise")(address, bytes, advice);
  bool isKnown = advice >= POSIX_MADV_NORMAL && advice <= POSIX_MADV_DONTNEED;
  return error == EINVAL && isKnown && mayBeLarge(roundToPages(address, bytes))
             ? 0
             : error;
}

// The break

static Next<void *(intptr_t)> nextBreak;
static std::atomic<bool> hasMovedBreak{false};

/// The C library's malloc moves the break before a program's first sbrk, and
/// some programs write below the address they get first (stress-ng --brk). So
/// the first call moves it as far.
MPG_HIDE_FROM_DLSYM(sbrk);
MPG_EXPORT void *mpg_own_sbrk(intptr_t bytes) noexcept {
  constexpr intptr_t byMalloc = 132 << 10;
  auto *real = nextBreak.get("sbrk");
  if (heapIsOurs() && !hasMovedBreak.exchange(true)) {
    int saved = errno;
    real(byMalloc);
    errno = saved;
  }
  return real(bytes);
}
