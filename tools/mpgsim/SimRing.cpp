// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgsim.h: the ring, its thread, and samples by time.

#include "Process/Supervisor.h"
#include "Support/Files.h"
#include "mpgsim.h"
#include "llvm/ADT/STLExtras.h"
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

/// The size of the head and the chunks of all lanes.
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
  // The reader of the options has checked that the name fits.
  memcpy(ring->function, sample.function.data(), sample.function.size());
  if (access(path().c_str(), F_OK) != 0)
    return "/proc is needed: " + path() + ": " + strerror(errno);
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
/// Processor time of a thread that says nothing; then it is not waited for any
/// more.
static constexpr uint64_t maxSilentNs = 1000000000;
/// Processor time of the program for which others wait for a thread that
/// sleeps.
static constexpr uint64_t maxAsleepNs = 200000000;

static void wait(uint32_t *word, uint32_t value) {
  timespec moment = {0, waitMs * 1000 * 1000};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &moment, nullptr, 0);
}

/// Processor time of the program, as its own runtime counts it.
uint64_t SimRing::programNs() const {
  clockid_t clock;
  timespec now = {};
  if (ring->owner && !clock_getcpuclockid(ring->owner, &clock))
    clock_gettime(clock, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

namespace {
/// Whether a thread runs. One that has ended counts as asleep.
struct Activity {
  bool isRunnable;
  uint64_t ns; ///< of processor time
};
} // namespace

static Activity inspect(const std::string &task) {
  Activity seen = {};
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> stat =
      readUnmapped(task + "/stat");
  if (!stat)
    return seen;
  llvm::SmallVector<llvm::StringRef, 52> fields =
      statFields((*stat)->getBuffer());
  uint64_t user, system;
  if (fields.size() > 12 && !fields[11].getAsInteger(10, user) &&
      !fields[12].getAsInteger(10, system))
    seen = {fields[0] == "R" || fields[0] == "D",
            (user + system) * (1000000000 / uint64_t(sysconf(_SC_CLK_TCK)))};
  return seen;
}

/// Whether any of the program's threads is runnable, with a lane or not.
static bool isAnyRunnable(const std::string &tasks) {
  std::vector<std::string> names;
  readNames(tasks, names);
  return llvm::any_of(names, [&](const std::string &name) {
    return inspect(tasks + name).isRunnable;
  });
}

/// Whether the program cannot go on, since some looks at it, without what is to
/// come from \p missing. A busy machine must not decide that: it lets threads
/// wait for a processor. So all threads sleep, or enough processor time was
/// taken.
bool SimRing::isStuck(std::optional<unsigned> missing) {
  std::string tasks = "/proc/" + std::to_string(ring->owner) + "/task/";
  Activity its = {};
  if (missing)
    its = inspect(tasks + std::to_string(ring->lane[*missing].thread));
  Look now = {missing, programNs(), its.ns};
  if (!firstLook || firstLook->missing != missing) {
    firstLook = lastLook = now;
    return false;
  }
  bool isIdle = now.programNs == lastLook.programNs && !isAnyRunnable(tasks);
  lastLook = now;
  if (its.isRunnable)
    return now.threadNs - firstLook->threadNs > maxSilentNs;
  return isIdle || now.programNs - firstLook->programNs > maxAsleepNs;
}

/// Nothing has come. If a thread waits for room because another one does not
/// come, which may wait for the first, the other one is left out.
void SimRing::goOn(std::optional<unsigned> missing) {
  unsigned full = 0;
  while (full < ring->lanes &&
         !__atomic_load_n(&ring->lane[full].ownerWaits, __ATOMIC_SEQ_CST))
    ++full;
  bool isFull = full < ring->lanes;
  if (isFull && !isStuck(missing))
    return;
  firstLook.reset();
  if (!isFull)
    return;
  if (missing)
    merge->skip(*missing);
  else
    merge->release(full);
}

void SimRing::readAll() {
  for (;;) {
    bool wasOver = hasEnded;
    uint32_t handed = __atomic_load_n(&ring->handed, __ATOMIC_SEQ_CST);
    std::optional<unsigned> missing = merge->advance();
    if (wasOver)
      return;
    __atomic_store_n(&ring->readerWaits, 1, __ATOMIC_SEQ_CST);
    wait(&ring->handed, handed);
    __atomic_store_n(&ring->readerWaits, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ring->handed, __ATOMIC_SEQ_CST) != handed)
      firstLook.reset();
    else if (!hasEnded)
      goOn(missing);
  }
}

void SimRing::switchOn(bool isOn) {
  uint64_t ns = programNs();
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
