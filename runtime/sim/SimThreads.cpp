// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpgsim-threads.a: threads of a program compiled with --mpg-sim. Each new
// thread gets its own lane, and events that make threads wait for each other
// are recorded there, so that mpgsim can put the records into one order that
// does not depend on this machine's scheduling. Threads of pthreads, C++ and C
// are seen through the functions below, which interpose the C library's; those
// of OpenMP through the callbacks of its runtime (OMPT). Static programs cannot
// interpose: their threads are counted as not seen.

#include "SimChunks.h"
#include "SimLane.h"
#include <dlfcn.h>
#include <pthread.h>

/// An undefined reference to it makes the linker take this file from the
/// archive.
extern "C" {
extern char mpg_sim_threads;
char mpg_sim_threads = 0;
}

namespace {
/// The function that a new thread runs, and the lane that it gets.
struct Begin {
  void *(*routine)(void *);
  void *argument;
  unsigned lane;
};
/// An OpenMP region that the thread is in.
struct Team {
  uint64_t region;
  unsigned size;
};
} // namespace

static constexpr unsigned maxNested = 8;
static Begin begins[MPG_SIM_LANES];
static pthread_t threads[MPG_SIM_LANES];
static pthread_key_t endKey;
static pthread_once_t endOnce = PTHREAD_ONCE_INIT;
static uint64_t regions;
static __thread Team teams[maxNested];
static __thread unsigned nested;
static __thread bool isAtBarrier; ///< of OpenMP, which may sleep there

/// The same functions of a sanitizer, if the program is compiled with one. They
/// call the C library's, and a sanitizer has to see all threads.
extern "C" {
#define MPG_OF_SANITIZER(NAME)                                                 \
  __attribute__((weak)) decltype(NAME) __interceptor_##NAME
MPG_OF_SANITIZER(pthread_create);
MPG_OF_SANITIZER(pthread_join);
MPG_OF_SANITIZER(pthread_barrier_init);
MPG_OF_SANITIZER(pthread_barrier_wait);
MPG_OF_SANITIZER(pthread_cond_wait);
MPG_OF_SANITIZER(pthread_cond_timedwait);
}

/// The function to call: \p ofSanitizer if there is one, else the C library's.
template <typename Function, typename Same>
static Function *next(Function **known, const char *name, Same *ofSanitizer) {
  if (ofSanitizer)
    return ofSanitizer;
  Function *function = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (!function) {
    function = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(known, function, __ATOMIC_RELAXED);
  }
  return function;
}

static void endThread(void *) {
  if (mpg_sim_is_recorded())
    mpg_sim_end_lane();
}

static void makeKey() { pthread_key_create(&endKey, endThread); }

static void writeThreadStack() {
  pthread_attr_t attributes;
  void *lowest;
  size_t bytes;
  if (pthread_getattr_np(pthread_self(), &attributes))
    return;
  if (!pthread_attr_getstack(&attributes, &lowest, &bytes))
    mpg_sim_say_stack(reinterpret_cast<uint64_t>(lowest), bytes);
  pthread_attr_destroy(&attributes);
}

static void *beginThread(void *pointer) {
  Begin begin = *static_cast<Begin *>(pointer);
  mpg_sim_begin_lane(begin.lane);
  if (mpg_sim_is_recorded()) {
    writeThreadStack();
    // Any value but null: then the destructor runs.
    pthread_setspecific(endKey, pointer);
  }
  return begin.routine(begin.argument);
}

static void writeBarrier(uint64_t which, uint64_t lanes) {
  mpg_sim_say(which, MPG_SIM_BARRIER, lanes);
}

static void writePause() {
  if (isAtBarrier || !mpg_sim_is_recorded())
    return;
  mpg_sim_say(0, MPG_SIM_PAUSES, 0);
  mpg_sim_hand_over();
}

#pragma GCC visibility push(default)
extern "C" {
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*routine)(void *), void *argument) {
  static decltype(pthread_create) *known;
  auto *create = next(&known, "pthread_create", __interceptor_pthread_create);
  unsigned lane =
      mpg_sim_is_recorded() ? mpg_sim_take_lane(mpg_sim_shared()) : 0;
  if (!lane)
    return create(thread, attributes, routine, argument);
  pthread_once(&endOnce, makeKey);
  begins[lane] = {routine, argument, lane};
  int error = create(thread, attributes, beginThread, &begins[lane]);
  mpg_sim_lane &taken = mpg_sim_shared()->lane[lane];
  if (error) {
    __atomic_fetch_sub(&taken.threads, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&taken.isTaken, 0, __ATOMIC_SEQ_CST);
    return error;
  }
  __atomic_store_n(&threads[lane], *thread, __ATOMIC_SEQ_CST);
  mpg_sim_say(0, MPG_SIM_CREATED, lane);
  mpg_sim_hand_over();
  return 0;
}

int pthread_join(pthread_t thread, void **result) {
  static decltype(pthread_join) *known;
  auto *join = next(&known, "pthread_join", __interceptor_pthread_join);
  mpg_sim_ring *ring = mpg_sim_shared();
  unsigned lane = 0;
  if (mpg_sim_is_recorded())
    for (unsigned number = 1; number < ring->lanes; ++number)
      if (__atomic_load_n(&ring->lane[number].isTaken, __ATOMIC_SEQ_CST) &&
          pthread_equal(threads[number], thread))
        lane = number;
  if (lane) {
    mpg_sim_say(ring->lane[lane].threads, MPG_SIM_JOINS, lane);
    mpg_sim_hand_over();
  }
  int error = join(thread, result);
  if (lane && !error)
    __atomic_store_n(&ring->lane[lane].isTaken, 0, __ATOMIC_SEQ_CST);
  return error;
}

int pthread_barrier_init(pthread_barrier_t *barrier,
                         const pthread_barrierattr_t *attributes,
                         unsigned count) {
  static decltype(pthread_barrier_init) *known;
  if (mpg_sim_is_recorded()) {
    mpg_sim_say(reinterpret_cast<uint64_t>(barrier), MPG_SIM_SIZE, count);
    mpg_sim_hand_over();
  }
  return next(&known, "pthread_barrier_init",
              __interceptor_pthread_barrier_init)(barrier, attributes, count);
}

int pthread_barrier_wait(pthread_barrier_t *barrier) {
  static decltype(pthread_barrier_wait) *known;
  if (mpg_sim_is_recorded()) {
    writeBarrier(reinterpret_cast<uint64_t>(barrier), 0);
    mpg_sim_hand_over();
  }
  return next(&known, "pthread_barrier_wait",
              __interceptor_pthread_barrier_wait)(barrier);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  static decltype(pthread_cond_wait) *known;
  writePause();
  return next(&known, "pthread_cond_wait",
              __interceptor_pthread_cond_wait)(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const timespec *until) {
  static decltype(pthread_cond_timedwait) *known;
  writePause();
  return next(&known, "pthread_cond_timedwait",
              __interceptor_pthread_cond_timedwait)(condition, mutex, until);
}
} // extern "C"
#pragma GCC visibility pop

/// The parts of OMPT used here; the numbers are those of OpenMP 5.2.
namespace {
union OmptData {
  uint64_t value;
  void *pointer;
};
enum OmptScope { scopeBegin = 1, scopeEnd = 2 };
enum OmptCallback { parallelBegin = 3, implicitTask = 7, syncRegion = 23 };
enum OmptSync {
  plainBarrier = 1,
  taskWait = 5,
  taskGroup,
  reduction,
  workshare,
  parallelEnd
};
constexpr int initialTask = 1;
using OmptFunction = void (*)();
using OmptLookUp = OmptFunction (*)(const char *);
struct OmptResult {
  int (*initialize)(OmptLookUp, int, OmptData *);
  void (*finalize)(OmptData *);
  OmptData data;
};
} // namespace

static void onParallelBegin(OmptData *, const void *, OmptData *parallel,
                            unsigned, int, const void *) {
  parallel->value = __atomic_add_fetch(&regions, 1, __ATOMIC_SEQ_CST);
}

/// All of a team begin together.
static void onImplicitTask(int scope, OmptData *parallel, OmptData *,
                           unsigned size, unsigned, int flags) {
  if ((flags & initialTask) || !mpg_sim_is_recorded())
    return;
  if (scope == scopeEnd) {
    nested -= nested != 0;
    return;
  }
  if (nested == maxNested || !parallel)
    return;
  teams[nested++] = {parallel->value, size};
  if (size < 2)
    return;
  writeBarrier(parallel->value, size);
  mpg_sim_hand_over();
}

/// At the barrier that ends a region all threads but the one that began it wait
/// for the next region.
static void onSyncRegion(int kind, int scope, OmptData *, OmptData *,
                         const void *) {
  bool isBarrier = kind < taskWait || kind > reduction;
  if (isBarrier)
    isAtBarrier = scope == scopeBegin;
  if (!isAtBarrier || !isBarrier || !nested || !mpg_sim_is_recorded())
    return;
  const Team &team = teams[nested - 1];
  if (team.size < 2)
    return;
  writeBarrier(team.region, team.size);
  if (kind == parallelEnd)
    mpg_sim_say(0, MPG_SIM_PAUSES, 0);
  mpg_sim_hand_over();
}

static int onInitialize(OmptLookUp lookup, int, OmptData *) {
  using SetCallback = int (*)(int, OmptFunction);
  auto set = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (!set)
    return 0;
  set(parallelBegin, reinterpret_cast<OmptFunction>(onParallelBegin));
  set(implicitTask, reinterpret_cast<OmptFunction>(onImplicitTask));
  set(syncRegion, reinterpret_cast<OmptFunction>(onSyncRegion));
  return 1;
}

static void onFinalize(OmptData *) {}

/// Called by the runtime of OpenMP; a tool of the program's own goes first.
extern "C" __attribute__((weak, visibility("default"))) OmptResult *
ompt_start_tool(unsigned, const char *) {
  static OmptResult result = {onInitialize, onFinalize, {}};
  mpg_sim_start();
  return mpg_sim_shared() ? &result : nullptr;
}
