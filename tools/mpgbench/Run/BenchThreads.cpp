// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that start together, each on a different CPU, and the clock around
// them. They spin while they wait for each other: a wake-up by the kernel takes
// longer than many of the measured things. Threads are made and bound before
// the clock starts.

#include "Measure/MachineLoad.h"
#include "mpgbench/Run/BenchMemory.h"
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

using namespace llvm;
using namespace mpg;

// CPUs

namespace {

/// The CPUs that the calling thread may use; put back at the end.
class AllowedCpus {
public:
  AllowedCpus() {
    // The kernel refuses a mask that is smaller than its own, and machines
    // with more than CPU_SETSIZE CPUs exist.
    for (size_t words = CPU_SETSIZE / 64; words <= 1 << 12; words *= 2) {
      mask.assign(words, 0);
      if (sched_getaffinity(0, words * 8, asSet(mask)) == 0)
        break;
      if (errno != EINVAL)
        break;
    }
    for (size_t cpu = 0; cpu < mask.size() * 64; ++cpu)
      if (mask[cpu / 64] >> cpu % 64 & 1)
        cpus.push_back(cpu);
  }
  ~AllowedCpus() {
    if (!cpus.empty())
      sched_setaffinity(0, mask.size() * 8, asSet(mask));
  }
  AllowedCpus(const AllowedCpus &) = delete;
  AllowedCpus &operator=(const AllowedCpus &) = delete;

  size_t count() const { return cpus.size(); }

  /// Binds the calling thread. Where that is forbidden it runs where it may.
  void bind(unsigned thread) const {
    if (cpus.empty())
      return;
    std::vector<uint64_t> one(mask.size());
    size_t cpu = cpus[thread % cpus.size()];
    one[cpu / 64] = uint64_t(1) << cpu % 64;
    sched_setaffinity(0, one.size() * 8, asSet(one));
  }

private:
  static cpu_set_t *asSet(std::vector<uint64_t> &words) {
    return reinterpret_cast<cpu_set_t *>(words.data());
  }

  std::vector<uint64_t> mask;
  std::vector<size_t> cpus;
};

// Teams

/// State that the threads of one runTogether share.
struct Team {
  function_ref<void(unsigned)> body;
  const AllowedCpus &cpus;
  bool isCrowded; ///< threads share CPUs: waiting ones must let others run
  std::atomic<unsigned> ready{0}, done{0};
  std::atomic<bool> isOpen{false};

  void pause() const {
    if (isCrowded)
      sched_yield();
  }
};

struct Member {
  Team *team = nullptr;
  unsigned thread = 0;
  double endSeconds = 0;
  pthread_t handle = {};
  bool isRunning = false;
};

} // namespace

static void *runMember(void *argument) {
  Member &member = *static_cast<Member *>(argument);
  Team &team = *member.team;
  team.cpus.bind(member.thread);
  team.ready.fetch_add(1, std::memory_order_acq_rel);
  while (!team.isOpen.load(std::memory_order_acquire))
    team.pause();
  team.body(member.thread);
  member.endSeconds = nowSeconds();
  team.done.fetch_add(1, std::memory_order_acq_rel);
  return nullptr;
}

double mpg::runTogether(unsigned threads, function_ref<void(unsigned)> body) {
  assert(threads > 0);
  AllowedCpus cpus;
  Team team{body, cpus, threads > cpus.count()};
  std::vector<Member> members(std::max(threads, 1U));
  unsigned started = 0;
  for (unsigned thread = 1; thread < threads; ++thread) {
    Member &member = members[thread];
    member.team = &team;
    member.thread = thread;
    member.isRunning =
        pthread_create(&member.handle, nullptr, runMember, &member) == 0;
    started += member.isRunning;
  }
  cpus.bind(0);
  while (team.ready.load(std::memory_order_acquire) < started)
    team.pause();
  double startSeconds = nowSeconds();
  team.isOpen.store(true, std::memory_order_release);
  body(0);
  // Threads that the system did not give: their part is done all the same,
  // here, and the time tells.
  for (Member &member : members)
    if (member.thread > 0 && !member.isRunning)
      body(member.thread);
  double endSeconds = nowSeconds();
  while (team.done.load(std::memory_order_acquire) < started)
    team.pause();
  for (Member &member : members)
    if (member.isRunning) {
      pthread_join(member.handle, nullptr);
      endSeconds = std::max(endSeconds, member.endSeconds);
    }
  return endSeconds - startSeconds;
}

// Repetitions

/// How often the kernel took a CPU away from a thread of this process.
static uint64_t involuntarySwitches() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? uint64_t(usage.ru_nivcsw) : 0;
}

void mpg::measureRepeats(WorkerResult &result, unsigned times,
                         function_ref<double()> body) {
  body();
  // Made now and not before the warm-up: what threads counted that have ended
  // cannot be set back to 0.
  Counters counters;
  uint64_t before = involuntarySwitches();
  std::vector<double> seconds;
  for (unsigned i = 0; i < times && result.error.empty(); ++i)
    seconds.push_back(body());
  result.counters = counters.read();
  result.involuntarySwitches = involuntarySwitches() - before;
  if (result.error.empty())
    result.value = summarise(seconds).median;
}
