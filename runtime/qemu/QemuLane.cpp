// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first thread has lane 0; each other one the lane that its creator took.
// Which of two threads that begin in the same moment gets which lane is chance.

#include "../sim/SimChunks.h"
#include "MpgQemu.h"
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

static constexpr unsigned maxProcessors = 4096;
static constexpr unsigned recordsOfChunk =
    MPG_SIM_CHUNK_BYTES / sizeof(mpg_sim_record);

namespace {
struct State {
  mpg_sim_ring *ring; ///< null: nothing is written
  bool hasFirst;      ///< the first thread has begun
  /// Lanes of threads that have been created but have not accessed memory yet.
  unsigned waiting[MPG_SIM_LANES];
  unsigned waitingCount;
  char *early; ///< text of before the first access
  pthread_mutex_t mutex;
};
} // namespace

static State state = {nullptr, false,   {},
                      0,       nullptr, PTHREAD_MUTEX_INITIALIZER};
static QemuLane lanes[maxProcessors + 1];
static __thread QemuLane *current;

// Mappings

static uint64_t base;

void setQemuBase(uint64_t value) {
  __atomic_store_n(&base, value, __ATOMIC_RELAXED);
}

/// Fills \p map from a line of /proc/self/maps; paths may have blanks.
static bool readLine(char *line, QemuMap &map) {
  int pathAt = 0;
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n",
             &map.begin, &map.end, &map.offset, &pathAt) != 3)
    return false;
  line[strcspn(line, "\n")] = '\0';
  map.path[0] = '\0';
  if (pathAt && line[pathAt] == '/')
    snprintf(map.path, sizeof(map.path), "%s", line + pathAt);
  return true;
}

bool findQemuMap(uint64_t address, QemuMap &map) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (!file)
    return false;
  uint64_t added = __atomic_load_n(&base, __ATOMIC_RELAXED);
  char line[PATH_MAX + 128];
  bool isFound = false;
  while (!isFound && fgets(line, sizeof(line), file))
    isFound = readLine(line, map) && address + added >= map.begin &&
              address + added < map.end;
  fclose(file);
  map.begin -= added;
  map.end -= added;
  return isFound;
}

// The ring

QemuLane &qemuLane(unsigned processor) {
  return lanes[processor < maxProcessors ? processor : maxProcessors];
}

mpg_sim_ring *qemuRing() { return state.ring; }

/// This process stops writing for good.
static void forget() {
  state.ring = nullptr;
  for (QemuLane &lane : lanes)
    lane.at = lane.end = nullptr;
}

static void leaveChild() {
  if (state.ring)
    __atomic_fetch_add(&state.ring->otherProcesses, 1, __ATOMIC_RELAXED);
  forget();
}

bool openQemuRing(const char *path, const char *text) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  off_t bytes = file < 0 ? 0 : lseek(file, 0, SEEK_END);
  void *memory = MAP_FAILED;
  if (bytes >= off_t(sizeof(mpg_sim_ring)))
    memory = mmap(nullptr, size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                  file, 0);
  if (file >= 0)
    close(file);
  if (memory == MAP_FAILED)
    return false;
  auto *ring = static_cast<mpg_sim_ring *>(memory);
  if (memcmp(ring->magic, MPG_SIM_MAGIC, sizeof(ring->magic)) ||
      ring->version != MPG_SIM_VERSION)
    return false;
  ring->owner = getpid();
  state.ring = ring;
  state.early = strdup(text);
  pthread_atfork(nullptr, nullptr, leaveChild);
  return state.early != nullptr;
}

static void writeRecord(QemuLane &lane, uint64_t value, mpg_sim_kind kind,
                        uint64_t number) {
  *lane.at++ = {value, uint64_t(kind) << MPG_SIM_KIND_SHIFT | number};
}

/// The last record of a chunk stays 0.
static void useChunk(QemuLane &lane, mpg_sim_record *at) {
  mpg_sim_record *chunk = mpg_sim_chunk(state.ring, lane.lane);
  lane.at = at ? at : chunk;
  lane.end = chunk + recordsOfChunk - 1;
}

/// Reports the stack around the first access of a thread. Covers at most 64 KiB
/// above it, because other memory may follow.
static void writeStack(QemuLane &lane, uint64_t address) {
  static constexpr uint64_t above = 65536;
  QemuMap map;
  if (!address || !findQemuMap(address, map) || map.path[0])
    return;
  uint64_t end = map.end - address > above ? address + above : map.end;
  writeQemu(lane, map.begin, MPG_SIM_STACK, 0);
  writeQemu(lane, end - map.begin, MPG_SIM_BYTES, 0);
}

static int claimWaiting() {
  int number = -1;
  pthread_mutex_lock(&state.mutex);
  if (!state.hasFirst) {
    state.hasFirst = true;
    number = 0;
  } else if (state.waitingCount) {
    number = int(state.waiting[0]);
    memmove(state.waiting, state.waiting + 1,
            --state.waitingCount * sizeof(*state.waiting));
  }
  pthread_mutex_unlock(&state.mutex);
  return number;
}

static bool begin(QemuLane &lane, uint64_t address) {
  if (lane.isRefused) {
    __atomic_fetch_add(&state.ring->lostAccesses, 1, __ATOMIC_RELAXED);
    return false;
  }
  int number = claimWaiting();
  if (number < 0) {
    lane.isRefused = true;
    __atomic_fetch_add(&state.ring->otherThreads, 1, __ATOMIC_RELAXED);
    return false;
  }
  lane.lane = &state.ring->lane[number];
  lane.lane->thread = int32_t(syscall(SYS_gettid));
  useChunk(lane, nullptr);
  current = &lane;
  pthread_mutex_lock(&state.mutex);
  char *early = state.early;
  state.early = nullptr;
  pthread_mutex_unlock(&state.mutex);
  if (early)
    writeQemuText(lane, early);
  free(early);
  writeStack(lane, address);
  return true;
}

bool makeQemuRoom(QemuLane &lane, unsigned records, bool always,
                  uint64_t address) {
  if (!state.ring || (!lane.lane && !begin(lane, address)))
    return false;
  if (!always && !__atomic_load_n(&state.ring->recording, __ATOMIC_RELAXED)) {
    lane.end = lane.at;
    return false;
  }
  useChunk(lane, lane.at);
  if (lane.end - lane.at >= long(records))
    return true;
  handOverQemu(lane);
  return state.ring != nullptr;
}

void writeQemu(QemuLane &lane, uint64_t value, mpg_sim_kind kind,
               uint64_t number) {
  // As much as belongs together.
  if (makeQemuRoom(lane, kind == MPG_SIM_BYTES ? 1 : 2, true))
    writeRecord(lane, value, kind, number);
}

void handOverQemu(QemuLane &lane) {
  if (!state.ring || !lane.lane)
    return;
  if (mpg_sim_hand_over_chunk(state.ring, lane.lane))
    useChunk(lane, nullptr);
  else
    forget();
}

void writeQemuText(QemuLane &lane, const char *lines) {
  char head[64];
  snprintf(head, sizeof(head), "mpgsim\t%d\tqemu\n", MPG_SIM_VERSION);
  size_t headBytes = strlen(head), bytes = headBytes + strlen(lines);
  size_t records =
      (bytes + sizeof(mpg_sim_record) - 1) / sizeof(mpg_sim_record);
  if (!makeQemuRoom(lane, unsigned(records) + 2, true))
    return;
  writeRecord(lane, bytes, MPG_SIM_MODULE, 1);
  writeRecord(lane, bytes, MPG_SIM_TEXT, 0);
  memcpy(lane.at, head, headBytes);
  memcpy(reinterpret_cast<char *>(lane.at) + headBytes, lines,
         bytes - headBytes);
  lane.at += records;
}

void writeQemuText(const char *lines) {
  if (current && current->lane)
    return writeQemuText(*current, lines);
  pthread_mutex_lock(&state.mutex);
  size_t known = state.early ? strlen(state.early) : 0;
  auto *longer =
      static_cast<char *>(realloc(state.early, known + strlen(lines) + 1));
  if (longer) {
    strcpy(longer + known, lines);
    state.early = longer;
  }
  pthread_mutex_unlock(&state.mutex);
}

void createQemuLane(QemuLane &parent) {
  if (!makeQemuRoom(parent, 2, true))
    return;
  unsigned number = mpg_sim_take_lane(state.ring);
  parent.created = number;
  if (!number)
    return;
  // One that a thread has had before: its records go first.
  uint32_t threads = state.ring->lane[number].threads;
  if (threads > 1)
    writeRecord(parent, threads - 1, MPG_SIM_JOINS, number);
  writeRecord(parent, 0, MPG_SIM_CREATED, number);
  handOverQemu(parent);
  pthread_mutex_lock(&state.mutex);
  state.waiting[state.waitingCount++] = number;
  pthread_mutex_unlock(&state.mutex);
}

void dropQemuLane(QemuLane &parent) {
  if (!parent.created || !state.ring)
    return;
  pthread_mutex_lock(&state.mutex);
  if (state.waitingCount)
    --state.waitingCount;
  pthread_mutex_unlock(&state.mutex);
  QemuLane none = {};
  none.lane = &state.ring->lane[parent.created];
  useChunk(none, nullptr);
  endQemuLane(none);
  parent.created = 0;
}

void endQemuLane(QemuLane &lane) {
  if (!state.ring || !lane.lane)
    return;
  writeQemu(lane, 0, MPG_SIM_ENDED, 0);
  handOverQemu(lane);
  if (state.ring)
    __atomic_store_n(&lane.lane->isTaken, 0, __ATOMIC_SEQ_CST);
  lane = {};
}
