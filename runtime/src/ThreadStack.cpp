// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stack as glibc makes it, from the low end: guard, stack, thread-local
// variables and the thread's descriptor. It is asked for two granules more
// than the program wants, so that wherever it lies there are whole granules of
// the size that the program wants below the frame of the new thread:
//
//   guard | normal, spare | large, as asked for | normal: first frames, TLS
//                                               ^ the program's function
//
// The program's function gets its first frame on the large pages: a thread that
// needs 100 KiB of stack would otherwise use none of them.
//
// Nothing is copied: what lies below the frame of a thread is nobody's. glibc
// keeps the stacks of finished threads for new ones, and then the large pages
// are there already.
//
// Not handing glibc a stack of ours (pthread_attr_setstack): it would not free
// it, and join, detach and exit would have to be interposed as well.

#include "ThreadStack.h"

#include "Pages.h"
#include "SelfMaps.h"
#include "Shortage.h"
#include "Stack.h"
#include "StackFork.h"
#include "Syscall.h"

#include <atomic>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

/// What a new thread has to know, from pthread_create until its first steps.
struct Start {
  std::atomic<bool> taken{false};
  void *(*function)(void *) = nullptr;
  void *argument = nullptr;
  size_t stackBytes = 0; ///< what glibc was asked for
  size_t largeBytes = 0; ///< how much of it is to be large
  size_t (*ownBytes)(const pthread_attr_t *) = nullptr;
};

/// Whole granules in the stack of a new thread.
struct Place {
  Range range;
  bool isLarge = false; ///< on large pages already
};

struct ThreadStacks {
  const Config *config = nullptr;
  Messages *messages = nullptr;
  std::atomic<bool> active{false};
  size_t granuleBytes = 0;
  std::atomic<char> mayFail{'?'}; ///< see isPromised(); y or n when known
  /// Sums over all stacks that were made since the start.
  std::atomic<uint64_t> bytes{0}, largeBytes{0};
  /// Threads on their way. More than these at once are rare; they use malloc.
  Start starts[128] = {};
};

} // namespace

/// Without a constructor: it would run after our start-up and undo it.
static ThreadStacks stacks;

/// Room for the frames of this file and what it calls, and one base page of
/// 64 KiB that surely none of them is on.
static constexpr size_t framesBytes = 160 << 10;

//===----------------------------------------------------------------------===//
// From the creator to the new thread
//===----------------------------------------------------------------------===//

static Start *takeStart() {
  for (Start &start : stacks.starts)
    if (!start.taken.load(std::memory_order_relaxed) &&
        !start.taken.exchange(true, std::memory_order_acquire))
      return &start;
  return static_cast<Start *>(malloc(sizeof(Start)));
}

static void giveBack(Start *start) {
  if (start >= stacks.starts && start < stacks.starts + 128)
    start->taken.store(false, std::memory_order_release);
  else
    free(start);
}

//===----------------------------------------------------------------------===//
// In the new thread
//===----------------------------------------------------------------------===//

static bool isHugetlb(uintptr_t address, Mapping &mapping) {
  return findMapping(address, mapping) &&
         !strncmp(mapping.name, "/anon_hugepage", strlen("/anon_hugepage"));
}

static bool isFreeable(uintptr_t page) {
  return rawCall(SYS_madvise, long(page), long(basePageBytes()), MADV_FREE) ==
         0;
}

/// Whether the stack of a finished thread came back with its large pages below
/// \p end.
static bool isLargeBelow(uintptr_t end) {
  // MADV_FREE is for memory on normal pages, and neither page has anything that
  // is needed: two calls at most, where a memory map has thousands of lines.
  uintptr_t inside = end - stacks.granuleBytes;
  if (isFreeable(inside))
    return false;
  // Not allowed at all: mlockall(), for one.
  Mapping mapping;
  return isFreeable(end) || isHugetlb(inside, mapping);
}

/// Where large pages go, or are already. Empty if there is no room for one.
static __attribute__((noinline)) Place placeOf(const Start &start) {
  size_t granule = stacks.granuleBytes;
  auto frame = uintptr_t(__builtin_frame_address(0));
  uintptr_t end = roundDown(frame - framesBytes, granule), low;
  bool isLarge = false;
  if (start.ownBytes) {
    // Above the frame are the descriptor, which pthread_self() points to, and
    // the thread-local variables.
    auto self = uintptr_t(pthread_self());
    low = (self > frame ? self : frame) + start.ownBytes(nullptr) +
          4 * basePageBytes() - start.stackBytes;
    isLarge = low + granule <= end && isLargeBelow(end);
  } else {
    // The mapping that the frame is in ends at the guard, or at large pages.
    Mapping mapping;
    if (!findMapping(frame, mapping))
      return {};
    low = mapping.range.start;
    isLarge = low == end && isHugetlb(end - 1, mapping);
    if (isLarge)
      low = mapping.range.start;
  }
  low = roundUp(low, granule);
  if (end > low && end - low > start.largeBytes)
    low = end - start.largeBytes;
  return {{low, end}, isLarge};
}

/// Whether a page that is reserved is sure to come. Asked once: the answer is
/// in several files.
static bool isPromised() {
  char mayFail = stacks.mayFail.load(std::memory_order_relaxed);
  if (mayFail == '?') {
    mayFail = reservationMayFail(stacks.granuleBytes) ? 'y' : 'n';
    stacks.mayFail.store(mayFail, std::memory_order_relaxed);
  }
  return mayFail == 'n';
}

/// The large pages of a finished thread's stack for a new thread. glibc has
/// given back those that were present, and they may be lacking now: for want of
/// a promise, or because a parent process has reserved them and not this one.
/// Then normal pages come in their place. Returns whether they can be used.
static bool keepLarge(const Place &place) {
  bool isOurs = !isForkedChild();
  if (isOurs && isPromised())
    return true;
  Mapping mapping;
  Range large =
      isHugetlb(place.range.end - 1, mapping) ? mapping.range : place.range;
  if (isOurs && populate(large, stacks.granuleBytes) == large.bytes())
    return true;
  Away away;
  if (buildAway(Source::normal, large.bytes(), stacks.granuleBytes, nullptr,
                away))
    return false;
  if (moveInto(away, large.start, stacks.granuleBytes, Contents::zero))
    discard(away);
  return false;
}

/// As many hugetlb pages as can be had, at the top of \p place, which becomes
/// what was replaced. Returns 0 or why it is not all of them.
static int putLarge(Range &place) {
  size_t granule = stacks.granuleBytes;
  bool atOnce = stacks.config->stackPaging == Paging::prepage || !isPromised();
  size_t bytes = place.bytes();
  int shortage = 0;
  while (bytes) {
    Away away;
    int error = buildAway(Source::hugetlb, bytes, granule, nullptr, away);
    if (!error && atOnce) {
      size_t present = populate(away.range, granule);
      if (present < bytes) {
        shortage = ENOMEM;
        shrinkAway(away, present);
        if (!(bytes = present))
          break;
      }
    }
    if (!error &&
        !(error = moveInto(away, place.end - bytes, granule, Contents::zero)))
      break;
    discard(away);
    shortage = error;
    bytes = bytes / 2 / granule * granule;
  }
  place.start = place.end - bytes;
  return shortage;
}

static void sayShortage(uint64_t missingBytes, Source source, int error) {
  LineBuffer line;
  line.addBytes(missingBytes)
      .add(" of a thread's stack stay on normal pages; cost: more TLB misses "
           "on it, and so for every thread that comes now; cause: ");
  explainShortage(line, source, stacks.granuleBytes, missingBytes, error);
  stacks.messages->say(MPG_MSG_SHORTAGE, line);
}

/// Adds one stack to the sums. \p reason is empty or why not all is large.
static void count(uint64_t bytes, uint64_t largeBytes, const char *reason) {
  uint64_t all = stacks.bytes.fetch_add(bytes) + bytes;
  uint64_t large = stacks.largeBytes.fetch_add(largeBytes) + largeBytes;
  if (all == large)
    reason = "";
  else if (!*reason)
    reason = "for some threads large pages ran short";
  stacks.messages->region(MPG_REGION_THREAD_STACK, {0, all}, large,
                          stacks.granuleBytes, reason);
}

/// Transparent huge pages. Returns whether there may be any.
static bool adviseStack(Range place) {
  if (!thpIsAllowed()) {
    sayShortage(place.bytes(), Source::thp, 0);
    count(place.bytes(), 0, "transparent huge pages are switched off");
    return false;
  }
  adviseHuge(place, false);
  if (stacks.config->stackPaging == Paging::prepage)
    populate(place, stacks.granuleBytes);
  count(place.bytes(), place.bytes(), "");
  return true;
}

/// Returns where the program's function may begin; 0: where it is.
static __attribute__((noinline)) uintptr_t enlarge(const Start &start) {
  Place place = placeOf(start);
  if (place.isLarge && keepLarge(place)) {
    setThreadStack(place.range);
    return place.range.end;
  }
  if (place.range.empty()) {
    count(start.largeBytes, 0, "no whole granule in the stack");
    return 0;
  }
  if (stacks.config->mode == Mode::thp)
    return adviseStack(place.range) ? place.range.end : 0;
  Range large = place.range;
  int error = putLarge(large);
  setThreadStack(large);
  size_t wanted = place.range.bytes(), missing = wanted - large.bytes();
  if (missing && stacks.config->mode == Mode::automatic && thpIsAllowed()) {
    adviseHuge({place.range.start, large.start}, false);
    count(wanted, wanted, "");
    return place.range.end;
  }
  if (missing)
    sayShortage(missing, Source::hugetlb, error);
  count(wanted, large.bytes(), "large pages ran short");
  return large.empty() ? 0 : place.range.end;
}

/// Calls the program's function with its frame at \p top or below. With
/// alloca, because then the unwinder knows the way back (cancellation and
/// pthread_exit unwind). In steps, because valgrind takes a step of 2 MB for a
/// change to another stack.
static __attribute__((noinline)) void *
callAt(uintptr_t top, void *(*function)(void *), void *argument) {
  constexpr size_t stepBytes = 512 << 10;
  auto at = uintptr_t(__builtin_frame_address(0));
  // 256 bytes: what the frame has below its address.
  while (top && at > top + 256) {
    size_t bytes = at - top;
    void *step = __builtin_alloca(bytes < stepBytes ? bytes : stepBytes);
    __asm__ volatile("" : : "r"(step) : "memory");
    at = uintptr_t(step);
  }
  return function(argument);
}

static void *startThread(void *argument) {
  auto *given = static_cast<Start *>(argument);
  Start start{};
  start.function = given->function;
  start.argument = given->argument;
  start.stackBytes = given->stackBytes;
  start.largeBytes = given->largeBytes;
  start.ownBytes = given->ownBytes;
  giveBack(given);
  // A handler would run on the memory that is being replaced.
  uint64_t all = ~uint64_t(0), before;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  uintptr_t top = enlarge(start);
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  errno = 0;
  return callAt(top, start.function, start.argument);
}

//===----------------------------------------------------------------------===//
// In the creator
//===----------------------------------------------------------------------===//

/// What pthread_attr_setstack has set, as a range; ends at 0 if nothing has.
static Range userStackOf(const pthread_attr_t *attributes) {
  void *start;
  size_t bytes;
  if (pthread_attr_getstack(attributes, &start, &bytes))
    return {};
  return {uintptr_t(start), uintptr_t(start) + bytes};
}

static void sayUserStack(Range stack) {
  LineBuffer line;
  line.add("a thread is given a stack of its own at ")
      .addHex(stack.start)
      .add(" (")
      .addBytes(stack.bytes())
      .add("); cost: it is left alone, on whatever pages it has; fix: "
           "pthread_attr_setstacksize instead of pthread_attr_setstack");
  stacks.messages->say(MPG_LPG_USER_STACK, line);
}

/// Makes \p mine out of what the program asked for. False if that is nothing
/// to change. \p mine is the caller's to destroy if \p attributes is null.
static bool askForMore(const pthread_attr_t *attributes, pthread_attr_t &mine,
                       Start &start) {
  if (attributes) {
    Range stack = userStackOf(attributes);
    if (stack.end) {
      sayUserStack(stack);
      return false;
    }
    // The stack size is in the struct itself. What it points to is shared with
    // the program's own, which stays as it is.
    memcpy(&mine, attributes, sizeof mine);
  } else if (pthread_getattr_default_np(&mine)) {
    return false;
  }
  size_t asked, granule = stacks.granuleBytes;
  bool fits = !pthread_attr_getstacksize(&mine, &asked) && asked < SIZE_MAX / 2;
  if (fits) {
    start.largeBytes = roundUp(asked, granule);
    start.stackBytes = start.largeBytes + 2 * granule;
    // Without a guard the stack could be one mapping with what lies below.
    size_t guard;
    if (!pthread_attr_getguardsize(&mine, &guard) && guard == 0)
      pthread_attr_setguardsize(&mine, basePageBytes());
    fits = !pthread_attr_setstacksize(&mine, start.stackBytes);
  }
  if (!fits && !attributes)
    pthread_attr_destroy(&mine);
  return fits;
}

int mpg::createThread(const ThreadCalls &calls, pthread_t *thread,
                      const pthread_attr_t *attributes,
                      void *(*function)(void *), void *argument) {
  // glibc's own mark for threads of thrd_create is no address.
  bool isOrdinary = attributes != reinterpret_cast<pthread_attr_t *>(-1);
  Start *start = nullptr;
  if (stacks.active.load(std::memory_order_acquire) && isOrdinary)
    start = takeStart();
  pthread_attr_t mine;
  if (!start || !askForMore(attributes, mine, *start)) {
    if (start)
      giveBack(start);
    return calls.create(thread, attributes, function, argument);
  }
  start->function = function;
  start->argument = argument;
  start->ownBytes = calls.ownBytes;
  int error = calls.create(thread, &mine, startThread, start);
  if (!attributes)
    pthread_attr_destroy(&mine);
  if (!error)
    return 0;
  // The program's own wish may still be met, with a smaller stack.
  giveBack(start);
  return calls.create(thread, attributes, function, argument);
}

void mpg::correctAttributes(pthread_attr_t *attributes) {
  Range told = userStackOf(attributes);
  Range whole = wholeStackOf(told);
  if (whole.start != told.start)
    pthread_attr_setstack(attributes, reinterpret_cast<void *>(whole.start),
                          whole.bytes());
}

void mpg::startThreadStacks(const Config &config, Messages &messages) {
  if (!config.stacks || config.mode == Mode::none)
    return;
  stacks.config = &config;
  stacks.messages = &messages;
  stacks.granuleBytes = stackGranuleBytes(config.hugeBytes);
  stacks.active.store(true, std::memory_order_release);
}
