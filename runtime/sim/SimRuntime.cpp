// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libmpgsim.a: hands the records of a program compiled with --mpg-sim to
// mpgsim, in shared memory (mpg/sim.h). The model is in mpgsim, so this code
// allocates no memory and keeps no file open, and a crash of the program loses
// nothing: mpgsim reads the last chunk after the program's end.
//
// It records the main thread of the first process and the threads to which
// SimThreads.cpp gives a lane. Other threads write into a sink and are counted.
// Other processes, and a program without mpgsim, write nothing. Outside the
// regions of a sample no thread writes: mpg_sim_switch is 0. All of it may run
// in a signal handler.

#include "SimChunks.h"
#include "SimLane.h"
#include "mpg/mpg.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

using Record = mpg_sim_record;

static constexpr uint64_t chunkBytes = MPG_SIM_CHUNK_BYTES;
static constexpr unsigned sinks = 256;

#define MPG_NO_CHUNK reinterpret_cast<Record *>(MPG_SIM_NO_CHUNK)

static const uint32_t isOff = 0;

// Seen by instrumented libraries, too, which have a copy of their own when the
// program has none.
#pragma GCC visibility push(default)
__thread Record *mpg_sim_cursor = MPG_NO_CHUNK;
const uint32_t *mpg_sim_switch = &isOff;
#pragma GCC visibility pop

namespace {
struct State {
  mpg_sim_ring *ring; ///< null: no mpgsim
  bool isStarted;
  uint64_t nextPlace; ///< place 0 is none
  unsigned nextSink;
  char *sinkMemory;
  bool hasEndKey;
  pthread_key_t endKey; ///< its destructor sees the end of a thread
};
} // namespace

static State state;
static __thread mpg_sim_lane *lane; ///< null: not recorded
static __thread bool isCounted;     ///< as another thread
static __thread bool isInNext;
static __thread Record *sinkStart;
/// Where the thread's lane goes on when recording resumes; null while it
/// records.
static __thread Record *parked;
/// Of the function of the sample that runs; null: none does.
static __thread const char *sampledFrame;

/// Maps \p bytes at a multiple of the chunk size; null on failure.
static char *mapAligned(uint64_t bytes, int file) {
  auto *whole = static_cast<char *>(
      mmap(nullptr, bytes + chunkBytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (whole == MAP_FAILED)
    return nullptr;
  uint64_t begin = reinterpret_cast<uint64_t>(whole);
  uint64_t skipped = -begin & (chunkBytes - 1);
  char *aligned = whole + skipped;
  int flags =
      file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  if (mmap(aligned, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file,
           0) == MAP_FAILED) {
    munmap(whole, bytes + chunkBytes);
    return nullptr;
  }
  if (skipped)
    munmap(whole, skipped);
  munmap(aligned + bytes, chunkBytes - skipped);
  return aligned;
}

/// A chunk that is not read. Without memory for it the program cannot go on.
static Record *sink() {
  if (!sinkStart) {
    char *memory = __atomic_load_n(&state.sinkMemory, __ATOMIC_ACQUIRE);
    if (!memory) {
      char *fresh = mapAligned(sinks * chunkBytes, -1);
      if (!fresh) {
        static const char text[] =
            "libmpgsim: error: no address space of 16 MiB for a program that "
            "was compiled with --mpg-sim; raise 'ulimit -v'\n";
        if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
          _exit(127);
        _exit(127);
      }
      if (__atomic_compare_exchange_n(&state.sinkMemory, &memory, fresh, false,
                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        memory = fresh;
      else
        munmap(fresh, sinks * chunkBytes);
    }
    unsigned number =
        __atomic_fetch_add(&state.nextSink, 1, __ATOMIC_RELAXED) % sinks;
    sinkStart = reinterpret_cast<Record *>(memory + number * chunkBytes);
  }
  return sinkStart;
}

/// This process stops writing for good.
static void forget() {
  mpg_sim_switch = &isOff;
  state.ring = nullptr;
  lane = nullptr;
  parked = nullptr;
  mpg_sim_cursor = MPG_NO_CHUNK;
}

/// As forget(), for another process, which the ring then counts.
static void leave() {
  if (state.ring)
    __atomic_fetch_add(&state.ring->otherProcesses, 1, __ATOMIC_RELAXED);
  forget();
}

static bool isRecording() {
  return __atomic_load_n(mpg_sim_switch, __ATOMIC_RELAXED) != 0;
}

/// Stops this thread's records while recording is off.
static void park() {
  if (isRecording())
    return;
  if (lane && !parked && mpg_sim_cursor != MPG_NO_CHUNK)
    parked = mpg_sim_cursor;
  mpg_sim_cursor = MPG_NO_CHUNK;
}

static void unpark() {
  if (!parked)
    return;
  mpg_sim_cursor = parked;
  parked = nullptr;
}

/// Number of accesses that the records from \p at to \p end represent.
static uint64_t accessesIn(const Record *at, const Record *end) {
  uint64_t sum = 0;
  while (at < end) {
    uint64_t kind = at->word >> MPG_SIM_KIND_SHIFT;
    uint64_t number = uint32_t(at->word), length = 1;
    if (kind == MPG_SIM_ACCESS || kind == MPG_SIM_CHECKED) {
      ++sum;
    } else if (kind == MPG_SIM_LOOP) {
      sum += at->value * number;
      length += 2 * number;
    } else if (kind == MPG_SIM_BUNDLE) {
      sum += at->word >> MPG_SIM_ACCESSES_SHIFT & MPG_SIM_BUNDLE_MOST;
      length += (at->word >> MPG_SIM_ADDRESSES_SHIFT & MPG_SIM_BUNDLE_MOST) / 2;
    }
    at += length;
  }
  return sum;
}

/// Adds what this thread, which has no lane, has written since the last time.
static void countOther(const Record *start) {
  if (mpg_sim_cursor != MPG_NO_CHUNK)
    __atomic_fetch_add(&state.ring->lostAccesses,
                       accessesIn(start, mpg_sim_cursor), __ATOMIC_RELAXED);
}

/// At the end of such a thread.
static void endOther(void *) {
  if (state.ring && sinkStart)
    countOther(sinkStart);
  mpg_sim_cursor = MPG_NO_CHUNK;
}

static Record *nextOfOther() {
  Record *start = sink();
  if (!state.ring)
    return start;
  if (!isCounted) {
    __atomic_fetch_add(&state.ring->otherThreads, 1, __ATOMIC_RELAXED);
    if (state.hasEndKey)
      pthread_setspecific(state.endKey, &state);
  }
  isCounted = true;
  countOther(start);
  return start;
}

/// A chunk for this thread, which records; what the one at hand has is handed
/// over.
static Record *nextChunk() {
  unpark();
  if (!state.ring || !lane)
    return mpg_sim_cursor = nextOfOther();
  // A signal between two chunks: what its handler does is lost.
  if (isInNext)
    return sink();
  int savedErrno = errno;
  isInNext = true;
  Record *next;
  if (state.ring->owner != getpid()) { // forked by a raw system call
    leave();
    next = sink();
  } else {
    // False: the reader was killed.
    if (!mpg_sim_hand_over_chunk(state.ring, lane))
      forget();
    next = state.ring ? mpg_sim_chunk(state.ring, lane) : sink();
  }
  mpg_sim_cursor = state.ring ? next : MPG_NO_CHUNK;
  isInNext = false;
  errno = savedErrno;
  return next;
}

static bool hasRoom(uint64_t records) {
  uint64_t used = reinterpret_cast<uint64_t>(mpg_sim_cursor) & (chunkBytes - 1);
  return used + (records + 1) * sizeof(Record) <= chunkBytes;
}

#pragma GCC visibility push(default)
Record *mpg_sim_next() { return nextChunk(); }

Record *mpg_sim_room(uint64_t records) {
  if (hasRoom(records))
    return mpg_sim_cursor;
  if (isRecording())
    return nextChunk();
  park();
  return sink();
}
#pragma GCC visibility pop

static void writeRecord(uint64_t value, mpg_sim_kind kind, uint64_t number) {
  Record *at = mpg_sim_cursor;
  *at = {value, uint64_t(kind) << MPG_SIM_KIND_SHIFT | number};
  mpg_sim_cursor = at + 1;
}

/// Makes room in one chunk: records that belong together must not be split.
static void reserve(uint64_t records) {
  unpark();
  if (!hasRoom(records))
    mpg_sim_cursor = nextChunk();
}

bool mpg_sim_is_recorded() {
  return state.ring && lane && state.ring->owner == getpid();
}

mpg_sim_ring *mpg_sim_shared() { return state.ring; }

void mpg_sim_say(uint64_t value, mpg_sim_kind kind, uint64_t number) {
  reserve(1);
  writeRecord(value, kind, number);
  park();
}

void mpg_sim_say_stack(uint64_t lowest, uint64_t bytes) {
  reserve(2);
  writeRecord(lowest, MPG_SIM_STACK, 0);
  writeRecord(bytes, MPG_SIM_BYTES, 0);
  park();
}

void mpg_sim_hand_over() {
  mpg_sim_cursor = nextChunk();
  park();
}

void mpg_sim_begin_lane(unsigned number) {
  if (!state.ring)
    return;
  lane = &state.ring->lane[number];
  lane->thread = int32_t(syscall(SYS_gettid));
  mpg_sim_cursor = mpg_sim_chunk(state.ring, lane);
  park();
}

void mpg_sim_end_lane() {
  mpg_sim_say(0, MPG_SIM_ENDED, 0);
  mpg_sim_hand_over();
  lane = nullptr;
  parked = nullptr;
  mpg_sim_cursor = MPG_NO_CHUNK;
}

/// The stack of the main thread, from the least address that it may grow to.
static void writeStack() {
  uint64_t here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  uint64_t largest = uint64_t(1) << 30;
  rlimit limit;
  uint64_t bytes = getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur > largest
                       ? largest
                       : limit.rlim_cur;
  // Constructors run near its top; arguments and environment lie above.
  uint64_t top = here + (uint64_t(1) << 20);
  mpg_sim_say_stack(top - bytes, bytes);
}

/// The ring of the environment, if it is one for this version.
static mpg_sim_ring *openRing() {
  const char *path = secure_getenv(MPG_SIM_VARIABLE);
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0)
    return nullptr;
  // The actual file size, so that exactly its lanes are mapped.
  off_t bytes = file < 0 ? 0 : lseek(file, 0, SEEK_END);
  char *memory =
      bytes < off_t(chunkBytes) ? nullptr : mapAligned(uint64_t(bytes), file);
  close(file);
  auto *ring = reinterpret_cast<mpg_sim_ring *>(memory);
  if (!ring || memcmp(ring->magic, MPG_SIM_MAGIC, sizeof(ring->magic)))
    return nullptr;
  if (ring->version != MPG_SIM_VERSION) {
    ring->otherVersion = MPG_SIM_VERSION;
    return nullptr;
  }
  int32_t noProcess = 0;
  if (!__atomic_compare_exchange_n(&ring->owner, &noProcess, getpid(), false,
                                   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    __atomic_fetch_add(&ring->otherProcesses, 1, __ATOMIC_RELAXED);
    return nullptr;
  }
  return ring;
}

void mpg_sim_start() {
  if (state.isStarted)
    return;
  int savedErrno = errno;
  state.isStarted = true;
  state.nextPlace = 1;
  state.ring = openRing();
  if (state.ring) {
    mpg_sim_switch = &state.ring->recording;
    pthread_atfork(nullptr, nullptr, leave);
    state.hasEndKey = pthread_key_create(&state.endKey, endOther) == 0;
    mpg_sim_begin_lane(0);
    writeStack();
  }
  errno = savedErrno;
}

/// Of all threads, up to now.
static uint64_t processorNs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

/// Where in the order of all records a region begins or ends.
static void writeRegion(bool begins) {
  if (lane)
    mpg_sim_say(0, MPG_SIM_REGION, begins);
  else
    __atomic_fetch_add(&state.ring->openElsewhere, begins ? 1u : -1u,
                       __ATOMIC_SEQ_CST);
}

/// The first of all threads switches all of them on.
static void beginRegion() {
  mpg_sim_ring *ring = state.ring;
  writeRegion(true);
  if (__atomic_fetch_add(&ring->open, 1, __ATOMIC_SEQ_CST))
    return;
  __atomic_fetch_add(&ring->regions, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&ring->regionNs, processorNs(), __ATOMIC_RELAXED);
  __atomic_store_n(&ring->recording, 1, __ATOMIC_SEQ_CST);
}

/// The last one switches them off.
static void endRegion() {
  mpg_sim_ring *ring = state.ring;
  uint32_t open = __atomic_load_n(&ring->open, __ATOMIC_SEQ_CST);
  do {
    if (!open) {
      __atomic_fetch_add(&ring->loneEnds, 1, __ATOMIC_RELAXED);
      return;
    }
  } while (!__atomic_compare_exchange_n(&ring->open, &open, open - 1, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  writeRegion(false);
  if (open > 1)
    return;
  __atomic_store_n(&ring->recording, ring->warmsUp, __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&ring->regionNs, processorNs(), __ATOMIC_RELAXED);
  park();
}

/// Whether the line "P <symbol> <name>" names what the sample does. A name of
/// the source may stand without the scopes in front of it.
static bool isSampled(const char *line, const char *end) {
  const char *wanted = state.ring->function;
  size_t length = strnlen(wanted, sizeof(state.ring->function));
  const char *symbol = line + 2;
  auto *tab = static_cast<const char *>(memchr(symbol, '\t', end - symbol));
  auto is = [&](const char *from, const char *to) {
    return size_t(to - from) == length && !memcmp(from, wanted, length);
  };
  if (!tab)
    return false;
  const char *name = tab + 1;
  if (is(symbol, tab) || is(name, end))
    return true;
  const char *last = end - length;
  return last > name + 2 && is(last, end) && last[-1] == ':';
}

static void chooseFunctions(const char *text, const char *end,
                            unsigned char *sampled) {
  while (text < end) {
    auto *lineEnd = static_cast<const char *>(memchr(text, '\n', end - text));
    if (!lineEnd)
      return;
    if (text + 2 < lineEnd && text[0] == 'P' && text[1] == '\t') {
      *sampled = isSampled(text, lineEnd);
      state.ring->functions += *sampled++;
    }
    text = lineEnd + 1;
  }
}

static void writeText(const char *text, uint64_t bytes) {
  static constexpr uint64_t largest = chunkBytes / 2;
  while (bytes) {
    uint64_t piece = bytes < largest ? bytes : largest;
    uint64_t records = (piece + sizeof(Record) - 1) / sizeof(Record);
    reserve(records + 1);
    writeRecord(piece, MPG_SIM_TEXT, 0);
    memcpy(mpg_sim_cursor, text, piece);
    mpg_sim_cursor += records;
    text += piece;
    bytes -= piece;
  }
}

static void writeModule(const char *text, uint64_t bytes, uint64_t first) {
  reserve(1);
  writeRecord(bytes, MPG_SIM_MODULE, first);
  writeText(text, bytes);
}

// Not in each C library.
extern "C" int backtrace(void **frames, int max) __attribute__((weak));

/// Says where the code of a file lies, as a module without places.
static int writeFile(dl_phdr_info *info, size_t, void *) {
  uint64_t begin = ~uint64_t(0), end = 0;
  for (unsigned at = 0; at < info->dlpi_phnum; ++at) {
    const ElfW(Phdr) &part = info->dlpi_phdr[at];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X))
      continue;
    uint64_t start = info->dlpi_addr + part.p_vaddr;
    begin = start < begin ? start : begin;
    end = start + part.p_memsz > end ? start + part.p_memsz : end;
  }
  char self[4096] = {}, text[4096 + 256];
  const char *path = info->dlpi_name;
  if (!path[0]) // the program comes first, the kernel's vdso has no file
    path = readlink("/proc/self/exe", self, sizeof self - 1) > 0 ? self : "";
  int length = snprintf(
      text, sizeof text, "mpgsim\t%d\tfiles\nI\t%llu\t%llu\t%llu\t%s\n",
      MPG_SIM_VERSION, (unsigned long long)begin, (unsigned long long)end,
      (unsigned long long)info->dlpi_addr, path);
  if (end && length > 0 && size_t(length) < sizeof text)
    writeModule(text, uint64_t(length), state.nextPlace);
  return 0;
}

static int countFiles(dl_phdr_info *info, size_t, void *adds) {
  *static_cast<unsigned long long *>(adds) = info->dlpi_adds;
  return 1;
}

/// Says which files are loaded, if that has changed.
static void writeFiles() {
  static unsigned long long known;
  unsigned long long adds = 0;
  dl_iterate_phdr(countFiles, &adds);
  if (__atomic_exchange_n(&known, adds, __ATOMIC_RELAXED) == adds)
    return;
  int savedErrno = errno;
  dl_iterate_phdr(writeFile, nullptr);
  errno = savedErrno;
}

/// Inline, or its frame takes the place of a caller. \p caller: the address
/// that the program's call returns to.
__attribute__((always_inline)) static inline void
writeAllocated(const void *address, uint64_t bytes, uint64_t word,
               const void *caller) {
  void *callers[MPG_SIM_CALLERS + 1];
  int first = 0, count = 0;
  if (bytes >= MPG_SIM_CALLERS_MIN && backtrace) {
    writeFiles();
    count = backtrace(callers, MPG_SIM_CALLERS + 1);
    while (first < count && callers[first] != caller)
      ++first;
  }
  reserve(2 + uint64_t(count - first));
  auto *at = mpg_sim_cursor;
  at[0] = {reinterpret_cast<uint64_t>(address), word};
  at[1] = {bytes, uint64_t(MPG_SIM_BYTES) << MPG_SIM_KIND_SHIFT};
  mpg_sim_cursor = at + 2;
  for (; first < count; ++first)
    writeRecord(reinterpret_cast<uint64_t>(callers[first]), MPG_SIM_CALLER, 0);
  park();
}

#pragma GCC visibility push(default)
void mpg_sim_module(const char *text, uint64_t bytes, uint64_t places,
                    const mpg_sim_object *objects, uint64_t count,
                    uint64_t *first, unsigned char *sampled) {
  mpg_sim_start();
  if (state.ring && state.ring->sample == MPG_SIM_FUNCTION)
    chooseFunctions(text, text + bytes, sampled);
  *first = __atomic_fetch_add(&state.nextPlace, places, __ATOMIC_RELAXED);
  if (!state.ring || !lane)
    return;
  writeModule(text, bytes, *first);
  for (uint64_t number = 0; number < count; ++number) {
    reserve(2);
    writeRecord(reinterpret_cast<uint64_t>(objects[number].address),
                MPG_SIM_OBJECT, number);
    writeRecord(objects[number].bytes, MPG_SIM_BYTES, 0);
  }
  park();
}

void mpg_sim_allocated(const void *address, uint64_t bytes, uint64_t word) {
  if (state.ring && lane)
    writeAllocated(address, bytes, word, __builtin_return_address(0));
}

void mpg_sim_described(const void *descriptor, uint64_t word) {
  if (!state.ring || !lane)
    return;
  // ISO_Fortran_binding.h
  struct Dimension {
    int64_t lowerBound, extent, stride;
  };
  struct Descriptor {
    const void *address;
    uint64_t elementBytes;
    int version;
    uint8_t rank;
    Dimension dimensions[15];
  };
  auto *array = static_cast<const Descriptor *>(descriptor);
  uint64_t bytes = array->elementBytes;
  for (unsigned at = 0; at < array->rank; ++at)
    bytes *= uint64_t(array->dimensions[at].extent);
  writeAllocated(array->address, bytes, word, __builtin_return_address(0));
}

void mpg_sim_freed(const void *address) {
  if (state.ring && lane)
    mpg_sim_say(reinterpret_cast<uint64_t>(address), MPG_SIM_FREED, 0);
}

void mpg_sim_begin() {
  if (state.ring && state.ring->sample == MPG_SIM_CALLS)
    beginRegion();
}

void mpg_sim_end() {
  if (state.ring && state.ring->sample == MPG_SIM_CALLS)
    endRegion();
}

int mpg_sim_enter() {
  auto *frame = static_cast<const char *>(__builtin_frame_address(0));
  // The stack grows down: one that is not above this was left by an exception.
  if (!state.ring || (sampledFrame && frame < sampledFrame))
    return 0;
  if (!sampledFrame)
    beginRegion();
  sampledFrame = frame;
  return 1;
}

void mpg_sim_leave() {
  if (sampledFrame && state.ring)
    endRegion();
  sampledFrame = nullptr;
}
#pragma GCC visibility pop
