// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of malloc and free with the settings of libmpg's heap, in two tests:
//
//   test=cycle     large blocks, all allocated, all freed, and that twice, by
//                  one thread; each of the four phases is a separate point
//   test=parallel  all threads allocate and free blocks of 64 KiB at once
//
// The time of malloc alone is the guide's measure. Here it includes the zeroing
// of large pages, which libmpg does at once and the C library leaves to the
// first touch; a separate figure has that part.

#include "Measure/MachineLoad.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "mpgbench/Run/BenchResult.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

constexpr uint64_t cycleBlockBytes = 8 << 20;

constexpr uint64_t parallelBlockBytes = 64 << 10;

/// Blocks of one size, all there or none.
class Blocks {
public:
  Blocks(size_t count, size_t bytes) : bytes(bytes), blocks(count) {}
  ~Blocks() { release(); }
  Blocks(const Blocks &) = delete;
  Blocks &operator=(const Blocks &) = delete;

  /// False: malloc gave none for one of them.
  bool allocate() {
    for (char *&block : blocks)
      if (!(block = static_cast<char *>(malloc(bytes))))
        return false;
    return true;
  }
  /// Writes to each page.
  void touch() {
    auto page = size_t(sysconf(_SC_PAGESIZE));
    for (char *block : blocks)
      for (size_t at = 0; at < bytes; at += page)
        static_cast<volatile char *>(block)[at] = 1;
  }
  void release() {
    for (char *&block : blocks) {
      free(block);
      block = nullptr;
    }
  }
  /// pre: there are some, and all are there.
  void addBacking(Backing &backing) const {
    char *low = *std::min_element(blocks.begin(), blocks.end());
    char *high = *std::max_element(blocks.begin(), blocks.end());
    addRangeBacking(low, size_t(high - low) + bytes, backing);
  }

private:
  size_t bytes;
  std::vector<char *> blocks;
};

} // namespace

static double measureTime(function_ref<void()> work) {
  double start = nowSeconds();
  work();
  return nowSeconds() - start;
}

static uint64_t involuntarySwitches() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? uint64_t(usage.ru_nivcsw) : 0;
}

static constexpr const char *noMemory = "malloc gives no memory for the blocks";

/// \p count large blocks are allocated, freed, allocated and freed; the value
/// is the time of phase \p last, counted from 0, for each block.
static void measurePhases(WorkerResult &result, size_t last, size_t count) {
  Blocks blocks(count, cycleBlockBytes);
  Counters counters;
  for (size_t phase = 0; phase <= last; ++phase) {
    bool isThere = true;
    uint64_t switches = involuntarySwitches();
    counters.reset();
    double seconds = measureTime([&] {
      if (phase % 2 == 0)
        isThere = blocks.allocate();
      else
        blocks.release();
    });
    if (phase == last) {
      result.counters = counters.read();
      result.involuntarySwitches = involuntarySwitches() - switches;
      result.value = seconds * 1e6 / double(count);
    }
    if (!isThere) {
      result.error = noMemory;
      return;
    }
    if (phase % 2 == 0)
      result.figures["first_touch_us"] =
          measureTime([&] { blocks.touch(); }) * 1e6 / double(count);
  }
  // Pages under blocks that are gone: they are under others of the same size.
  if (last % 2 == 1) {
    if (!blocks.allocate())
      return;
    blocks.touch();
  }
  blocks.addBacking(result.backing);
}

/// All threads allocate and free \p count small blocks at once; the value is
/// the time for each block of one thread.
static void measureParallel(WorkerResult &result, unsigned threads,
                            size_t count) {
  std::vector<std::unique_ptr<Blocks>> blocks;
  for (unsigned thread = 0; thread < threads; ++thread)
    blocks.push_back(std::make_unique<Blocks>(count, parallelBlockBytes));
  std::vector<char> isThere(threads, 1);
  constexpr unsigned iterations = 10; // the guide's
  measureRepeats(result, iterations, [&] {
    return runTogether(threads, [&](unsigned thread) {
      isThere[thread] &= char(blocks[thread]->allocate());
      blocks[thread]->release();
    });
  });
  result.value *= 1e6 / double(count);
  if (!all_of(isThere, [](char one) { return one; }) ||
      !blocks[0]->allocate()) {
    result.error = noMemory;
    return;
  }
  blocks[0]->touch();
  blocks[0]->addBacking(result.backing);
}

/// Of memory for one block: a coloured one may take a large page more.
static constexpr uint64_t cycleRoomBytes = cycleBlockBytes + largePageBytes;
static constexpr uint64_t parallelRoomBytes = parallelBlockBytes + (4 << 10);

static constexpr StringLiteral phases[] = {"malloc1", "free1", "malloc2",
                                           "free2"};

namespace {

/// A heap as the parameter of that name, and how it is asked for.
struct Heap {
  StringLiteral name, test;
  bool isLibmpg;
  const char *variable, *value;
};

} // namespace

static constexpr Heap heaps[] = {
    {"glibc", "cycle", false, nullptr, nullptr},
    {"free-1", "cycle", true, "XOS_MMM_L_ARENA_FREE", "1"},
    {"free-2", "cycle", true, "XOS_MMM_L_ARENA_FREE", "2"},
    {"glibc", "parallel", false, nullptr, nullptr},
    {"lock-1", "parallel", true, "XOS_MMM_L_ARENA_LOCK_TYPE", "1"},
    {"lock-0", "parallel", true, "XOS_MMM_L_ARENA_LOCK_TYPE", "0"},
};

// Plan

/// Memory that blocks may fill: nine tenths of the pool's, because libmpg takes
/// some for itself, and where the pool has nothing, of all.
static uint64_t roomBytes(const PlanContext &context) {
  const HugePool *pool = context.node.pages.largePool();
  uint64_t poolBytes =
      pool ? multiplyCapped(pool->free.valueOr(0), pool->pageBytes) : 0;
  uint64_t room = context.memoryBytes;
  if (poolBytes >= 16 * cycleRoomBytes)
    room = std::min(room, poolBytes);
  return room / 10 * 9;
}

static PlannedPoint planPoint(const Heap &heap, Parameters parameters,
                              bool hasRoom) {
  PlannedPoint point;
  point.parameters = std::move(parameters);
  point.needsRuntime = heap.isLibmpg;
  if (heap.variable)
    point.environment.push_back({heap.variable, heap.value});
  // The lock is measured, not how memory goes back and comes again.
  if (heap.test == "parallel")
    point.environment.push_back({"MALLOC_TRIM_THRESHOLD_", "1099511627776"});
  if (!hasRoom)
    point.missing = "there is too little free memory";
  return point;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t room = roomBytes(context);
  // 16 of them are the least that ARENA_FREE=1 gives back.
  uint64_t blocks =
      std::min<uint64_t>(context.quick ? 16 : 1024, room / cycleRoomBytes);
  unsigned threads = std::min(std::max(context.cpus, 2U), 16U);
  uint64_t held = std::min<uint64_t>(context.quick ? 512 : 20480,
                                     room / parallelRoomBytes / threads);
  std::vector<PlannedPoint> points;
  for (const Heap &heap : heaps) {
    Parameters parameters = {{"test", heap.test.str()},
                             {"heap", heap.name.str()}};
    if (heap.test == "parallel") {
      parameters.push_back({"phase", "malloc+free"});
      parameters.push_back({"threads", std::to_string(threads)});
      parameters.push_back({"blocks", std::to_string(held)});
      points.push_back(planPoint(heap, std::move(parameters), held > 0));
      continue;
    }
    for (StringRef phase : phases) {
      Parameters ofPhase = parameters;
      ofPhase.push_back({"phase", phase.str()});
      ofPhase.push_back({"blocks", std::to_string(blocks)});
      points.push_back(planPoint(heap, std::move(ofPhase), blocks > 0));
    }
  }
  return points;
}

// Measuring

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  StringRef test = parameter(parameters, "test");
  StringRef name = parameter(parameters, "heap");
  StringRef phase = parameter(parameters, "phase");
  const Heap *heap = find_if(heaps, [&](const Heap &one) {
    return one.test == test && one.name == name;
  });
  const StringLiteral *at = find(phases, phase);
  if (heap == std::end(heaps) || (test == "cycle" && at == std::end(phases))) {
    result.error = formatv("there is no phase '{0}' of test '{1}' with the "
                           "heap '{2}'",
                           phase, test, name);
    return result;
  }
  result.error = whyWrongHeap(heap->isLibmpg);
  uint64_t threads = 1;
  if (test == "parallel")
    threads = readThreads(parameters, result.error);
  // The guide's 16 threads have 327,680 together.
  constexpr uint64_t maxBlocks = 1 << 22;
  uint64_t blocks =
      readCount(parameters, "blocks",
                maxBlocks / std::max<uint64_t>(threads, 1), result.error);
  if (!result.error.empty())
    return result;
  if (test == "parallel")
    measureParallel(result, unsigned(threads), blocks);
  else
    measurePhases(result, size_t(at - std::begin(phases)), blocks);
  return result;
}

// Conclusions

static std::vector<GuideFigure> guide() {
  // Seconds of 1024 calls each.
  const struct {
    const char *phase, *setting;
    double seconds;
  } cycles[] = {
      {"malloc1", "ARENA_FREE=1", 0.501}, {"malloc1", "ARENA_FREE=2", 0.511},
      {"free1", "ARENA_FREE=1", 0.260},   {"free1", "ARENA_FREE=2", 0.0005},
      {"malloc2", "ARENA_FREE=1", 0.501}, {"malloc2", "ARENA_FREE=2", 0.0003},
      {"free2", "ARENA_FREE=1", 0.260},   {"free2", "ARENA_FREE=2", 0.0003},
  };
  std::vector<GuideFigure> figures;
  for (const auto &cycle : cycles)
    figures.push_back(
        {formatv("A64FX, {0}, {1}", cycle.setting, cycle.phase).str(),
         cycle.seconds * 1e6 / 1024,
         "guide 7.3: 1024 x 8 MiB, its seconds / 1024", cycle.phase});
  // It does not say whether a thread makes all calls, nor whether the time is
  // of one iteration: only the quotient of the two is certain.
  const char *source =
      "guide 7.4: 16 threads x 20480 x 10 of 64 KiB, its seconds / 204800; "
      "only the quotient of the two, 1.60, is certain";
  figures.push_back({"A64FX, 16 threads, LOCK_TYPE=1", 0.56e6 / 204800, source,
                     "malloc+free"});
  figures.push_back({"A64FX, 16 threads, LOCK_TYPE=0", 0.35e6 / 204800, source,
                     "malloc+free"});
  return figures;
}

static void conclude(ExperimentResult &result) {
  auto compareHeaps = [&](StringRef phase, StringRef before, StringRef after,
                          const char *what) {
    auto find = [&](StringRef heap) {
      return findPoint(result, {{"phase", phase.str()}, {"heap", heap.str()}});
    };
    if (find(before) || find(after))
      result.conclusions.push_back(
          compareRounds(result, find(before), find(after), what));
  };
  compareHeaps("malloc2", "free-1", "free-2",
               "second malloc of 8 MiB blocks, ARENA_FREE=2 against 1 (guide: "
               "1,033x)");
  compareHeaps("free1", "free-1", "free-2",
               "first free of 8 MiB blocks, ARENA_FREE=2 against 1 (guide: "
               "524x)");
  compareHeaps("malloc+free", "lock-1", "lock-0",
               "64 KiB blocks by all threads at once, ARENA_LOCK_TYPE=0 "
               "against 1 (guide, 16 threads: 1.60x)");
}

const Experiment mpg::arenaExperiment = {
    {"arena", "what malloc and free cost with ARENA_FREE and ARENA_LOCK_TYPE",
     "us", false,
     "test=cycle: time of a phase / its blocks of 8 MiB, memory not touched by "
     "the program; test=parallel: time of an iteration / blocks of 64 KiB of "
     "one thread, malloc and free together",
     "phase", "heap", false},
    plan,
    measure,
    conclude,
    guide};
