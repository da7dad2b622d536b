// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is copied, because memory below the frame of a new thread is free.
// When the thread ends, normal pages replace the large ones, which return to
// the pool: glibc keeps the stack for another thread, which may want no large
// pages, or find them gone (a limit on pages in use).

#include "stack/ThreadStack.h"

#include "base/SelfMaps.h"
#include "base/Syscall.h"
#include "heap/Collapse.h"
#include "pages/LargeMemory.h"
#include "pages/Pages.h"
#include "pages/Shortage.h"
#include "stack/Stack.h"

#include <atomic>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

struct ThreadPages {
  const Config *config = nullptr;
  Messages *messages = nullptr;
  size_t hugePageBytes = 0;
  std::atomic<char> mayFail{'?'};      ///< see isPromised(); y or n when known
  std::atomic<uint64_t> takenBytes{0}; ///< large pages of stacks in use now
  /// Sums over all stacks that were made since the start.
  std::atomic<uint64_t> bytes{0}, largeBytes{0};
};

} // namespace

/// Without a constructor: it would run after our start-up and undo it.
static ThreadPages pages;

// initial-exec: reading it never allocates.
static thread_local Range ownLarge __attribute__((tls_model("initial-exec")));

/// The C library calls \p destroy(\p object) when this thread ends, after the
/// program's own destructors, with the first frames of the thread alone on its
/// stack. Unlike pthread_setspecific it takes none of 1,024 keys.
extern "C" int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object,
                                        void *library);
extern "C" void *__dso_handle __attribute__((visibility("hidden")));

/// Room for the frames of this file and what it calls, and one base page of
/// 64 KiB that surely none of them is on.
static constexpr size_t callFramesBytes = 160 << 10;
/// Of the pool, for stacks that no setting has asked for.
static constexpr uint64_t cappedShare = 4;

// Messages

static void reportShortage(uint64_t missingBytes, Source source, int error) {
  LineBuffer line(
      Bytes(missingBytes),
      " of a thread's stack stay on normal pages; cost: more TLB misses "
      "on it, and so for every thread that comes now; cause: ");
  explainShortage(line, source, pages.hugePageBytes, missingBytes, error);
  pages.messages->report(MPG_MSG_SHORTAGE, line);
}

/// Adds one stack to the sums. \p reason is empty or why not all is large.
static void count(uint64_t bytes, uint64_t largeBytes, const char *reason) {
  uint64_t all = pages.bytes.fetch_add(bytes) + bytes;
  uint64_t large = pages.largeBytes.fetch_add(largeBytes) + largeBytes;
  if (all == large)
    reason = "";
  else if (!*reason)
    reason = "for some threads large pages ran short";
  pages.messages->region(MPG_REGION_THREAD_STACK, {0, all}, large,
                         pages.hugePageBytes, reason);
}

// The pool's pages

/// Whether a reserved page is certain to come. Found out once: it takes several
/// files.
static bool isPromised() {
  char mayFail = pages.mayFail.load(std::memory_order_relaxed);
  if (mayFail == '?') {
    mayFail = reservationMayFail(pages.hugePageBytes) ? 'y' : 'n';
    pages.mayFail.store(mayFail, std::memory_order_relaxed);
  }
  return mayFail == 'n';
}

/// moveInto() with the rights that the C library has given to the stack.
static int moveIntoStack(Staged &staged, uintptr_t target) {
  Range stack{target, target + staged.range.bytes()};
  int error = moveInto(staged, target, pages.hugePageBytes, Contents::zero);
  if (stackRights() & PROT_EXEC)
    protectMemory(stack, stackRights());
  return error;
}

/// Puts normal pages, untouched, over large ones that are not needed any more.
static void removeLarge(Range large) {
  Staged staged;
  if (buildStaged(Source::normal, large.bytes(), pages.hugePageBytes, nullptr,
                  staged))
    return;
  if (moveIntoStack(staged, large.start))
    discard(staged);
}

/// At the end of a thread.
static void endThread(void *) {
  Range large = ownLarge;
  auto frame = uintptr_t(__builtin_frame_address(0));
  // exit() also calls this, on the unchanged stack; and the pages of a forked
  // child are already handled.
  if (large.empty() || frame < large.end || isForkedChild())
    return;
  ownLarge = Range{};
  setThreadStack({});
  removeLarge(large);
  pages.takenBytes.fetch_sub(large.bytes(), std::memory_order_relaxed);
}

bool mpg::watchThreadEnd() {
  return pages.config->mode == Mode::thp ||
         !__cxa_thread_atexit_impl(endThread, nullptr, &__dso_handle);
}

/// Maps as many hugetlb pages as possible at the top of \p place, and shrinks
/// that to the replaced part. Returns 0, or why it is not all of them.
static int mapLarge(Range &place) {
  size_t hugeBytes = pages.hugePageBytes;
  bool atOnce = pages.config->stackPaging == Paging::prepage || !isPromised();
  // After chroot() a fork may not find them.
  bool mayLeave = poolIsOpen() || exists("/proc/self/maps");
  size_t bytes = mayLeave ? place.bytes() : 0;
  int shortage = 0;
  while (bytes) {
    Staged staged;
    int error = buildStaged(Source::hugetlb, bytes, hugeBytes, nullptr, staged);
    if (!error && atOnce) {
      size_t present = populate(staged.range, hugeBytes);
      if (present < bytes) {
        shortage = ENOMEM;
        shrinkStaged(staged, present);
        if (!(bytes = present))
          break;
      }
    }
    if (!error && !(error = moveIntoStack(staged, place.end - bytes)))
      break;
    discard(staged);
    shortage = error;
    bytes = bytes / 2 / hugeBytes * hugeBytes;
  }
  place.start = place.end - bytes;
  return shortage;
}

/// Whether \p bytes more stay within the share of all capped stacks.
static bool isWithinShare(size_t bytes) {
  uint64_t taken = pages.takenBytes.load(std::memory_order_relaxed);
  uint64_t free =
      readPool(pages.hugePageBytes).available() * pages.hugePageBytes;
  return taken + bytes <= (free + taken) / cappedShare;
}

/// hugetlb pages over \p place or, from its end on, over a part of it. False:
/// none.
static bool mapPool(Range place) {
  Range large = place;
  int error = mapLarge(large);
  size_t missing = place.bytes() - large.bytes();
  bool goesOn = missing && !large.empty() &&
                pages.config->mode == Mode::automatic && thpIsAllowed();
  if (goesOn)
    adviseHuge({place.start, large.start}, false);
  else if (missing)
    reportShortage(missing, Source::hugetlb, error);
  count(place.bytes(), goesOn ? place.bytes() : large.bytes(),
        "large pages ran short");
  if (large.empty())
    return false;
  ownLarge = large;
  setThreadStack(large);
  pages.takenBytes.fetch_add(large.bytes(), std::memory_order_relaxed);
  return true;
}

/// Transparent huge pages over \p place; as mapPool().
static bool advise(Range place) {
  if (!thpIsAllowed()) {
    reportShortage(place.bytes(), Source::thp, 0);
    count(place.bytes(), 0, "transparent huge pages are switched off");
    return false;
  }
  adviseHuge(place, false);
  watchForCollapse(place);
  if (pages.config->stackPaging == Paging::prepage)
    populate(place, pages.hugePageBytes);
  count(place.bytes(), place.bytes(), "");
  return true;
}

/// Bytes at the low end of a stack of \p bytes that stay on normal pages, where
/// virtual machines set their guard pages.
static size_t endBytes(size_t bytes) {
  constexpr size_t maxBytes = 256 << 10;
  return bytes / 2 < maxBytes ? roundDown(bytes / 2, basePageBytes())
                              : maxBytes;
}

uintptr_t mpg::mapLargePages(Range stack, size_t bytes, bool isCapped) {
  size_t hugeBytes = pages.hugePageBytes, inside = bytes - endBytes(bytes);
  Mapping mapping;
  if (!stack.start && findMapping(stack.end, mapping))
    stack.start = mapping.range.start;
  uintptr_t end = roundDown(stack.end - callFramesBytes, hugeBytes);
  Range place{end - roundUp(inside, hugeBytes), end};
  if (!stack.start || place.start < stack.start + endBytes(bytes)) {
    count(place.bytes(), 0, "no whole frame of a large page in the stack");
    return 0;
  }
  if (isCapped && !isWithinShare(place.bytes())) {
    count(place.bytes(), 0, "stacks have their share of the pool");
    return 0;
  }
  bool isLarge =
      pages.config->mode == Mode::thp ? advise(place) : mapPool(place);
  return isLarge ? place.start + inside : 0;
}

void mpg::leaveParentsPages() {
  Mapping mapping, below;
  if (findMapping(uintptr_t(__builtin_frame_address(0)), mapping) &&
      findMapping(mapping.range.start - 1, below) &&
      !strncmp(below.name, "/anon_hugepage", strlen("/anon_hugepage")))
    removeLarge(below.range);
}

void mpg::startThreadPages(const Config &config, Messages &messages) {
  pages.config = &config;
  pages.messages = &messages;
  pages.hugePageBytes = stackHugePageBytes(config.hugeBytes);
}
