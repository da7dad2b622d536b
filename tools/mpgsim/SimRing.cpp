// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgsim.h: the ring, its thread, and samples by time.

#include "Support/Files.h"
#include "mpgsim.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mpg;

static_assert(sizeof(mpg_sim_ring) <= MPG_SIM_CHUNK_BYTES);

/// Of the head and the chunks of all lanes.
static size_t bytesFor(unsigned lanes) {
  return size_t(lanes * MPG_SIM_CHUNKS + 1) * MPG_SIM_CHUNK_BYTES;
}

SimRing::~SimRing() {
  finish();
  if (ring)
    munmap(ring, bytesFor(ring->lanes));
  if (file >= 0)
    close(file);
}

std::string SimRing::open(unsigned lanes, const SimSample &wanted) {
  size_t bytes = bytesFor(lanes);
  file = openMemoryFile("mpgsim", O_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0)
    return std::string("there is no shared memory: ") + strerror(errno);
  void *shared =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED)
    return std::string("there is no shared memory: ") + strerror(errno);
  ring = static_cast<mpg_sim_ring *>(shared);
  memcpy(ring->magic, MPG_SIM_MAGIC, sizeof(ring->magic));
  ring->version = MPG_SIM_VERSION;
  ring->reader = getpid();
  ring->lanes = lanes;
  sample = wanted;
  ring->sample = sample.by;
  ring->warmsUp = sample.by != MPG_SIM_ALL && !sample.isCold;
  ring->recording = sample.by == MPG_SIM_ALL || ring->warmsUp;
  // It fits, and is not full: the options were checked.
  memcpy(ring->function, sample.function.data(), sample.function.size());
  return "";
}

/// By way of /proc, so that no open file is in the program that it did not
/// open.
std::string SimRing::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

/// The chunk of the lane that comes after \p chunks others.
mpg_sim_record *SimRing::memory(unsigned lane, uint32_t chunks) const {
  char *first = reinterpret_cast<char *>(ring) + MPG_SIM_CHUNK_BYTES;
  size_t number = size_t(lane) * MPG_SIM_CHUNKS + chunks % MPG_SIM_CHUNKS;
  return reinterpret_cast<mpg_sim_record *>(first +
                                            number * MPG_SIM_CHUNK_BYTES);
}

const mpg_sim_record *SimRing::chunk(unsigned number) {
  const mpg_sim_lane &lane = ring->lane[number];
  if (__atomic_load_n(&lane.filled, __ATOMIC_SEQ_CST) != lane.taken)
    return memory(number, lane.taken);
  // The chunk that the thread was filling when the program ended.
  if (!hasEnded || isLast[number])
    return nullptr;
  isLast[number] = true;
  mpg_sim_record *last = memory(number, lane.taken);
  return last->word ? last : nullptr;
}

/// Cleared as far as it was used: the words after that are 0.
void SimRing::release(unsigned number, unsigned used) {
  mpg_sim_lane &lane = ring->lane[number];
  if (isLast[number])
    return;
  memset(memory(number, lane.taken), 0, used * sizeof(mpg_sim_record));
  __atomic_store_n(&lane.taken, lane.taken + 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&lane.ownerWaits, __ATOMIC_SEQ_CST))
    syscall(SYS_futex, &lane.taken, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

static constexpr long waitMs = 20;
/// Then a thread that runs, and says nothing, is not waited for any more.
static constexpr unsigned maxInspections = 50;

static void wait(uint32_t *word, uint32_t value) {
  timespec moment = {0, waitMs * 1000 * 1000};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &moment, nullptr, 0);
}

/// Whether the lane's thread waits for something in the kernel, or is gone.
bool SimRing::isAsleep(unsigned lane) const {
  std::string path = "/proc/" + std::to_string(ring->owner) + "/task/" +
                     std::to_string(ring->lane[lane].thread) + "/stat";
  int stat = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (stat < 0)
    return true;
  char text[512];
  ssize_t bytes = read(stat, text, sizeof(text) - 1);
  close(stat);
  text[std::max<ssize_t>(bytes, 0)] = '\0';
  const char *name = strrchr(text, ')');
  return !name || strlen(name) < 3 || name[2] != 'R';
}

/// Nothing has come. If a thread waits for room because another one does not
/// come, which may wait for the first, the other one is left out.
void SimRing::goOn(std::optional<unsigned> missing, unsigned looks) {
  unsigned full = 0;
  while (full < ring->lanes &&
         !__atomic_load_n(&ring->lane[full].ownerWaits, __ATOMIC_SEQ_CST))
    ++full;
  if (full == ring->lanes)
    return;
  if (!missing)
    merge->release(full);
  else if (looks > maxInspections || isAsleep(*missing))
    merge->skip(*missing);
}

void SimRing::readAll() {
  for (unsigned looks = 0;; ++looks) {
    bool wasOver = hasEnded;
    uint32_t handed = __atomic_load_n(&ring->handed, __ATOMIC_SEQ_CST);
    std::optional<unsigned> missing = merge->advance();
    if (wasOver)
      return;
    __atomic_store_n(&ring->readerWaits, 1, __ATOMIC_SEQ_CST);
    wait(&ring->handed, handed);
    __atomic_store_n(&ring->readerWaits, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->handed, __ATOMIC_SEQ_CST) != handed)
      looks = 0;
    else if (!hasEnded)
      goOn(missing, looks);
  }
}

/// Of the program, as its own runtime counts it.
void SimRing::switchOn(bool isOn) {
  clockid_t clock;
  timespec now = {};
  if (ring->owner && !clock_getcpuclockid(ring->owner, &clock))
    clock_gettime(clock, &now);
  uint64_t ns = uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
  ring->regionNs += isOn ? -ns : ns;
  ring->regions = 1;
  ring->open = isOn;
  if (ring->warmsUp)
    merge->mark(positions(), isOn);
  __atomic_store_n(&ring->recording, isOn || ring->warmsUp, __ATOMIC_SEQ_CST);
}

/// Where each thread is now.
std::vector<sim::SimMerge::Position> SimRing::positions() const {
  std::vector<sim::SimMerge::Position> all;
  for (unsigned number = 0; number < ring->lanes; ++number) {
    const mpg_sim_lane &lane = ring->lane[number];
    uint32_t filled;
    unsigned records;
    do {
      filled = __atomic_load_n(&lane.filled, __ATOMIC_SEQ_CST);
      records = sim::SimMerge::countRecords(memory(number, filled));
    } while (__atomic_load_n(&lane.filled, __ATOMIC_SEQ_CST) != filled);
    all.push_back({filled, records});
  }
  return all;
}

bool SimRing::isOpenElsewhere() const {
  return int32_t(__atomic_load_n(&ring->openElsewhere, __ATOMIC_SEQ_CST)) > 0;
}

void SimRing::runSample() {
  std::unique_lock<std::mutex> lock(endMutex);
  auto sleepsThrough = [&](double seconds) {
    return !end.wait_for(lock, std::chrono::duration<double>(seconds),
                         [this] { return isOver; });
  };
  if (sample.delay > 0) {
    if (!sleepsThrough(sample.delay))
      return;
    switchOn(true);
  }
  if (sleepsThrough(sample.seconds))
    switchOn(false);
}

std::string SimRing::start(Reader reader) {
  merge.emplace(static_cast<sim::SimLanes &>(*this), ring->lanes,
                std::move(reader));
  sigset_t everything, before;
  sigfillset(&everything);
  pthread_sigmask(SIG_SETMASK, &everything, &before);
  readsAll = [this] { readAll(); };
  runsSample = [this] { runSample(); };
  int error = thread.start(readsAll);
  if (!error && sample.by == MPG_SIM_TIME) {
    // Without a delay before the program begins, not soon after.
    if (sample.delay == 0)
      switchOn(true);
    error = sampler.start(runsSample);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!error)
    return "";
  finish();
  return std::string("cannot start a thread: ") + strerror(error) +
         "; see ulimit -u, ulimit -v and the pids of the control group";
}

void SimRing::finish() {
  if (!merge || hasEnded)
    return;
  {
    std::lock_guard<std::mutex> lock(endMutex);
    isOver = true;
  }
  end.notify_all();
  sampler.join();
  hasEnded = true;
  thread.join();
  merge->finish();
}
