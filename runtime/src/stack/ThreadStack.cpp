// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three kinds of threads:
//
//   plain   unchanged from the C library; a thread costs the same
//   deep    the requested stack; transparent huge pages are allowed from 2 MiB
//           below its top on, so only a thread that uses as much gets them
//   large   requested by a setting or by a large size: ThreadPages.cpp puts
//           large pages into a stack that is longer for that
//
// A stack of the last kind, as glibc makes it, from the low end: guard, stack,
// thread-local variables and the thread's descriptor. libmpg asks glibc for two
// large pages more than the program wants, so that wherever the stack lies
// there are whole frames of that size below the first call of the new thread:
//
//   guard | normal, spare | large, as asked for | normal: first frames, TLS
//                     ^ low                  ^ top
//
// The program's function gets its first frame at the top, and
// pthread_getattr_np reports all of the stack below it, with the spare part:
// runtimes look for an overflow right below the reported end. The low end is on
// normal pages, for the program's guard pages. The reported values
// are in a thread-local variable of that thread, at the same distance from the
// thread's descriptor in all threads.
//
// Not done: passing glibc our own stack (pthread_attr_setstack). glibc would
// not free it, and join, detach and exit would have to be interposed as well.

#include "stack/ThreadStack.h"

#include "base/SelfMaps.h"
#include "base/StackSwitch.h"
#include "base/Syscall.h"
#include "heap/Collapse.h"
#include "pages/LargeMemory.h"
#include "pages/Pages.h"
#include "stack/Stack.h"

#include <atomic>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

using namespace mpg;

namespace {

enum class Kind : uint8_t { plain, deep, large };

/// Parameters for a new thread.
struct Wish {
  Kind kind = Kind::plain;
  bool isCapped = false; ///< not asked for by a setting: some of the pool only
  bool hasGuard = true;  ///< as the program has asked for it
  void *(*function)(void *) = nullptr;
  void *argument = nullptr;
  size_t askedBytes = 0;
  size_t stackBytes = 0; ///< what glibc is asked for
  size_t ownBytes = 0;   ///< what glibc takes of it for itself; 0: not known
};

/// From pthread_create until the first steps of the thread.
struct Start {
  std::atomic<bool> taken{false};
  Wish wish;
};

struct ThreadStacks {
  const Config *config = nullptr;
  Messages *messages = nullptr;
  std::atomic<bool> active{false};
  /// The mode and the site allow transparent pages, and there are mappings.
  std::atomic<bool> mayAdvise{false};
  size_t hugePageBytes = 0;
  std::atomic<unsigned> deepThreads{0};
  std::atomic<bool> hasLarge{false}; ///< there was a stack of that kind
  /// Threads on their way. More than these at once are rare; they use malloc.
  Start starts[128] = {};
};

/// The answer of pthread_getattr_np for a thread in place of glibc's.
struct Reported {
  size_t bytes;  ///< 0: nothing
  uintptr_t top; ///< 0: what glibc says
  bool hasGuard;
};

} // namespace

/// Without a constructor: it would run after our start-up and undo it.
static ThreadStacks stacks;

// initial-exec: reading it never allocates, and getReported() counts on it.
static thread_local Reported ownReported
    __attribute__((tls_model("initial-exec")));

/// Bytes of its stack that a thread uses before any of it is large.
static constexpr size_t smallBytes = 2 << 20;
/// A stack of this size or more gets large pages without a setting.
static constexpr size_t largeBytes = 16 << 20;
/// Advice makes three mappings of a stack. A process may have 65,530, and a
/// program with very many threads is not to have fewer of them.
static constexpr unsigned maxDeepThreads = 4096;
/// Nor is one that has this many already: it may leave itself few.
static constexpr size_t manyMappings = 8192;

// From the creator to the new thread

static Start *claimStart() {
  for (Start &start : stacks.starts)
    if (!start.taken.load(std::memory_order_relaxed) &&
        !start.taken.exchange(true, std::memory_order_acquire))
      return &start;
  return static_cast<Start *>(malloc(sizeof(Start)));
}

static void releaseStart(Start *start) {
  if (start >= stacks.starts && start < stacks.starts + 128)
    start->taken.store(false, std::memory_order_release);
  else
    free(start);
}

// In the new thread

/// Memory that certainly belongs to the stack of this thread, which begins at
/// \p frame.
static Range stackBelow(uintptr_t frame, const Wish &wish) {
  // Above the frame are the descriptor, which pthread_self() points to, and
  // the thread-local variables.
  auto self = uintptr_t(pthread_self());
  uintptr_t top = self > frame ? self : frame;
  return {top - wish.stackBytes + wish.ownBytes + 4 * basePageBytes(), frame};
}

/// Where the kernel may use transparent huge pages as it sees fit.
static void allowDeepPages(const Wish &wish) {
  Range stack = stackBelow(uintptr_t(__builtin_frame_address(0)), wish);
  Range deep{roundUp(stack.start, stacks.hugePageBytes),
             roundDown(stack.end - smallBytes, stacks.hugePageBytes)};
  if (deep.empty())
    return;
  adviseMemory(deep, MADV_HUGEPAGE);
  watchForCollapse(deep);
}

/// Returns where the program's function may begin; 0: where it is.
static __attribute__((noinline)) uintptr_t enlarge(const Wish &wish) {
  auto frame = uintptr_t(__builtin_frame_address(0));
  Range stack = wish.ownBytes ? stackBelow(frame, wish) : Range{0, frame};
  uintptr_t top = mapLargePages(stack, wish.askedBytes, wish.isCapped);
  ownReported = {wish.askedBytes, top, wish.hasGuard};
  if (!top && stacks.mayAdvise && wish.ownBytes)
    allowDeepPages(wish);
  return top;
}

/// enlarge() without signals: a handler would run on the memory that is being
/// replaced.
static uintptr_t enlargeInPeace(const Wish &wish) {
  uint64_t all = ~uint64_t(0), before;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&all), long(&before),
          sizeof all);
  if (isForkedChild())
    leaveParentsPages();
  uintptr_t top = wish.kind == Kind::large ? enlarge(wish) : 0;
  rawCall(SYS_rt_sigprocmask, SIG_SETMASK, long(&before), 0, sizeof before);
  return top;
}

static void *startThread(void *argument) {
  auto *start = static_cast<Start *>(argument);
  Wish wish = start->wish;
  releaseStart(start);
  uintptr_t top = 0;
  if (wish.kind == Kind::large && !watchThreadEnd())
    wish.kind = Kind::plain;
  if (wish.kind == Kind::large || isForkedChild())
    top = enlargeInPeace(wish);
  if (wish.kind == Kind::deep)
    allowDeepPages(wish);
  errno = 0;
  return callBelow(top, wish.function, wish.argument);
}

// In the creator

/// The stack set by pthread_attr_setstack, as a range; ends at 0 if none is
/// set.
static Range readUserStack(const pthread_attr_t *attributes) {
  void *start;
  size_t bytes;
  if (pthread_attr_getstack(attributes, &start, &bytes))
    return {};
  return {uintptr_t(start), uintptr_t(start) + bytes};
}

static void reportUserStack(Range stack) {
  stacks.messages->report(
      MPG_LPG_USER_STACK, "the program gives a thread its own stack at ",
      Hex(stack.start), " (", Bytes(stack.bytes()),
      "); cost: it is left alone, on whatever pages it has; fix: "
      "pthread_attr_setstacksize instead of pthread_attr_setstack");
}

/// Stack size of threads created without attributes.
static size_t defaultBytes() {
  pthread_attr_t attributes;
  size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes))
    return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

/// Whether the size of a stack alone asks for large pages.
static bool isLargeSize(size_t bytes) {
  return bytes >= largeBytes && stacks.config->mode != Mode::thp &&
         bytes != defaultBytes();
}

/// Whether the stack of one more thread may be three mappings. They are counted
/// for the threads 0, 16 and 256: it takes as long as to make a thread. And not
/// by a process that has locked itself in, which may die of opening a file.
static bool hasMappingsLeft() {
  unsigned number = stacks.deepThreads.fetch_add(1, std::memory_order_relaxed);
  bool isAsked = number == 0 || number == 16 || number == 256;
  if (isAsked && !isLockedIn && countMappings(manyMappings) == manyMappings)
    stacks.mayAdvise = false;
  return stacks.mayAdvise && number < maxDeepThreads;
}

/// Whether this is an OpenMP thread's stack, in the size that a variable sets.
/// libomp adds something to that.
static bool isWorkerSize(size_t bytes) {
  size_t omp = stacks.config->ompStackBytes;
  return omp >= smallBytes && bytes >= omp && bytes - omp < smallBytes;
}

/// What \p attributes ask for, and what that means here.
static Wish computeWish(const ThreadCalls &calls,
                        const pthread_attr_t *attributes) {
  Wish wish;
  wish.ownBytes = calls.ownBytes ? calls.ownBytes(nullptr) : 0;
  size_t guardBytes, asked = 0;
  if (attributes) {
    Range stack = readUserStack(attributes);
    if (stack.end) {
      reportUserStack(stack);
      return wish;
    }
    pthread_attr_getstacksize(attributes, &asked);
    wish.hasGuard =
        pthread_attr_getguardsize(attributes, &guardBytes) || guardBytes;
  } else {
    asked = defaultBytes();
  }
  wish.askedBytes = wish.stackBytes = asked;
  if (!asked || asked >= SIZE_MAX / 2)
    return wish;
  bool isSet =
      stacks.config->stacksGiven || (attributes && isWorkerSize(asked));
  wish.isCapped = !isSet;
  if (isSet || (attributes && isLargeSize(asked)))
    wish.kind = Kind::large;
  else if (stacks.mayAdvise && wish.ownBytes &&
           asked >= smallBytes + 2 * stacks.hugePageBytes && hasMappingsLeft())
    wish.kind = Kind::deep;
  return wish;
}

/// Makes \p mine out of what the program asked for, with room for whole
/// large pages. \p mine is the caller's to destroy if \p attributes is null.
static bool requestMore(const pthread_attr_t *attributes, pthread_attr_t &mine,
                        Wish &wish) {
  // The stack size is in the struct itself. The data it points to is shared
  // with the program's struct, which stays unchanged.
  if (attributes)
    memcpy(&mine, attributes, sizeof mine);
  else if (pthread_getattr_default_np(&mine))
    return false;
  size_t hugeBytes = stacks.hugePageBytes;
  wish.stackBytes =
      roundUp(wish.askedBytes + wish.ownBytes, hugeBytes) + 2 * hugeBytes;
  // Without a guard the stack could be one mapping with what lies below.
  if (!wish.hasGuard)
    pthread_attr_setguardsize(&mine, basePageBytes());
  bool fits = !pthread_attr_setstacksize(&mine, wish.stackBytes);
  if (!fits && !attributes)
    pthread_attr_destroy(&mine);
  return fits;
}

/// Calls \p calls.create with \p start for the new thread.
static int createWith(const ThreadCalls &calls, pthread_t *thread,
                      const pthread_attr_t *attributes, Start *start) {
  if (start->wish.kind != Kind::large)
    return calls.create(thread, attributes, startThread, start);
  pthread_attr_t mine;
  if (!requestMore(attributes, mine, start->wish))
    return EINVAL;
  stacks.hasLarge.store(true, std::memory_order_relaxed);
  int error = calls.create(thread, &mine, startThread, start);
  if (!attributes)
    pthread_attr_destroy(&mine);
  return error;
}

int mpg::createThread(const ThreadCalls &calls, pthread_t *thread,
                      const pthread_attr_t *attributes,
                      void *(*function)(void *), void *argument) {
  Wish wish;
  // glibc marks threads of thrd_create with a value that is not an address.
  bool isOurs = stacks.active.load(std::memory_order_acquire) &&
                attributes != reinterpret_cast<pthread_attr_t *>(-1);
  if (isOurs)
    wish = computeWish(calls, attributes);
  // glibc has kept the stacks of the parent's threads for those of a child.
  bool isClean =
      !stacks.hasLarge.load(std::memory_order_relaxed) || !isForkedChild();
  Start *start = nullptr;
  if (isOurs && (wish.kind != Kind::plain || !isClean))
    start = claimStart();
  if (start) {
    wish.function = function;
    wish.argument = argument;
    start->wish = wish;
    if (createWith(calls, thread, attributes, start) == 0)
      return 0;
    // The program's own wish may still be met, with a smaller stack.
    releaseStart(start);
  }
  return calls.create(thread, attributes, function, argument);
}

// Attributes

static const Reported &getReported(pthread_t thread) {
  uintptr_t distance = uintptr_t(&ownReported) - uintptr_t(pthread_self());
  return *reinterpret_cast<const Reported *>(uintptr_t(thread) + distance);
}

void mpg::correctAttributes(pthread_t thread, pthread_attr_t *attributes) {
  Range reported = readUserStack(attributes);
  Range whole = findWholeStack(reported);
  const Reported &own = getReported(thread);
  if (own.bytes) {
    whole.end = own.top ? own.top : reported.end;
    whole.start = reported.start;
    if (!own.hasGuard)
      pthread_attr_setguardsize(attributes, 0);
  }
  if (whole.start != reported.start || whole.end != reported.end)
    pthread_attr_setstack(attributes, reinterpret_cast<void *>(whole.start),
                          whole.bytes());
}

void mpg::startThreadStacks(const Config &config, Messages &messages) {
  if (!config.stacks || config.mode == Mode::none)
    return;
  stacks.config = &config;
  stacks.messages = &messages;
  stacks.hugePageBytes = stackHugePageBytes(config.hugeBytes);
  stacks.mayAdvise = config.mode != Mode::hugetlb && thpIsAllowed();
  startThreadPages(config, messages);
  stacks.active.store(true, std::memory_order_release);
}
