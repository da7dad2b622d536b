// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// loaded: how long a load takes while other threads use the memory's bandwidth.
// docs/mpgbench-experiments.md says how, and what to expect.

#include "Measure/MachineLoad.h"
#include "mpg/kernels.h"
#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>

using namespace llvm;
using namespace mpg;

/// Of the thread that chases, and of each thread that loads the memory.
static constexpr uint64_t fullBytes = 256 << 20, quickBytes = 64 << 20;
static constexpr unsigned repeats = 3;
static constexpr uint64_t seed = 20233;
static constexpr int64_t loads = 128 * 1024;
/// Blocks that a loading thread reads between two pauses.
static constexpr unsigned blocksAtOnce = 16;
/// The idle end: no thread loads.
static constexpr const char *idle = "idle";

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  unsigned threads = context.cpus - 1;
  uint64_t all = (context.quick ? quickBytes : fullBytes) * (threads + 1);
  uint64_t bytes = sizeThatFits(context, all) / (threads + 1) / largePageBytes *
                   largePageBytes;
  std::vector<std::string> pauses = {idle, "1K", "128", "0"};
  if (!context.quick)
    pauses = {idle,  "64K", "16K", "8K", "4K", "2K", "1K",
              "512", "256", "128", "64", "32", "16", "0"};
  PageKind kind = baseAndLarge(context, bytes * (threads + 1)).back();
  std::vector<PlannedPoint> points;
  for (const std::string &pause : pauses) {
    points.push_back(
        {{{"pause", pause},
          {"threads", std::to_string(threads)},
          {"pages", kind.name},
          {"bytes", sizeName(bytes)}},
         threads == 0 ? "a second CPU has to load the memory, and this "
                        "process may use one"
                      : whyNotNow(context.node, kind, bytes * (threads + 1))});
  }
  return points;
}

namespace {

struct LoadedWork {
  unsigned threads; ///< that load
  uint64_t pause;   ///< between two reads, in turns of an empty loop
  uint64_t bytes;   ///< of each thread
  char *memory;     ///< of the thread that chases; then of the others
  std::atomic<bool> isOver{false};
  std::atomic<uint64_t> bytesLoaded{0};
  double seconds = 0; ///< of the chase

  void load(unsigned thread);
  /// Returns the cell where it ended.
  void *chase(void *cell);
};

} // namespace

void LoadedWork::load(unsigned thread) {
  auto *begin = reinterpret_cast<Block *>(memory + thread * bytes);
  const Block *end =
      begin + bytes / sizeof(Block) / blocksAtOnce * blocksAtOnce;
  uint64_t turns = 0;
  for (const Block *at = begin; !isOver.load(std::memory_order_relaxed);
       ++turns) {
    keep(readBlocks(at, at + blocksAtOnce));
    at = at + blocksAtOnce == end ? begin : at + blocksAtOnce;
    for (uint64_t i = 0; i < pause; ++i)
      keep(i);
  }
  bytesLoaded.fetch_add(turns * blocksAtOnce * sizeof(Block));
}

void *LoadedWork::chase(void *cell) {
  double start = nowSeconds();
  void *end = mpg_chase(cell, loads);
  seconds = nowSeconds() - start;
  isOver.store(true, std::memory_order_relaxed);
  return end;
}

static void measureLoaded(LoadedWork &work, unsigned line,
                          WorkerResult &result) {
  void *cell = mpg_chase_fill(work.memory, work.bytes, line, seed);
  if (!cell) {
    result.error = "mpg_chase_fill refused the buffer";
    return;
  }
  for (unsigned thread = 1; thread <= work.threads; ++thread) {
    auto *blocks = reinterpret_cast<Block *>(work.memory + thread * work.bytes);
    touchBlocks(blocks, blocks + work.bytes / sizeof(Block));
  }
  std::vector<double> rates;
  measureRepeats(result, repeats, [&] {
    work.isOver = false;
    work.bytesLoaded = 0;
    runTogether(work.threads + 1, [&](unsigned thread) {
      if (thread == 0)
        cell = work.chase(cell);
      else
        work.load(thread);
    });
    rates.push_back(double(work.bytesLoaded) / work.seconds * 1e-9);
    return work.seconds;
  });
  keep(uint64_t(uintptr_t(cell)));
  result.value = result.value * 1e9 / double(loads);
  // The first one warmed up.
  result.figures["load_gbs"] = summarise(ArrayRef(rates).drop_front()).median;
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t bytes = readSize(parameters, "bytes", maxBytes, result.error);
  unsigned threads = readThreads(parameters, result.error);
  StringRef pause = parameter(parameters, "pause");
  LoadedWork work{pause == idle ? 0 : threads, 0, bytes, nullptr};
  if (pause != idle && pause != "0")
    work.pause = readSize(parameters, "pause", 1 << 30, result.error);
  measureOn(parameters, bytes * (threads + 1), result,
            [&](const BenchMemory &memory) {
              work.memory = memory.as<char>();
              measureLoaded(work, 64, result);
            });
  return result;
}

// Conclusions

/// Where latency leaves the idle one: the largest load at which it is below one
/// and a half for certain, and the smallest from which on it is above.
static Conclusion describeKnee(const ExperimentResult &result) {
  constexpr double knee = 1.5;
  const PointResult *base = findPoint(result, {{"pause", idle}});
  Conclusion conclusion;
  double below = 0, above = 0;
  for (const PointResult &point : result.points) {
    if (point.samples.empty() || !base || &point == base)
      continue;
    Ratio slower = unpairedRatio(getValues(*base), getValues(point));
    conclusion.kind = point.isBusy || base->isBusy || !slower.interval
                          ? Conclusion::Kind::undecided
                          : Conclusion::Kind::yes;
    if (conclusion.kind == Conclusion::Kind::undecided)
      break;
    double load = findFigure(point, "load_gbs").value_or(0);
    if (slower.interval->high < knee)
      below = std::max(below, load);
    else if (slower.interval->low > knee && (above == 0 || load < above))
      above = load;
  }
  if (conclusion.kind == Conclusion::Kind::undecided)
    conclusion.text = "where a load takes 1.5 times as long as on an idle "
                      "memory: the machine was busy, or there are fewer than "
                      "six rounds";
  else if (above == 0)
    conclusion.text =
        formatv("a load takes less than 1.5 times as long as on an idle memory "
                "up to {0:f1} GB/s, the most that the other threads got",
                below);
  else
    conclusion.text =
        formatv("a load takes 1.5 times as long as on an idle memory somewhere "
                "between {0:f1} and {1:f1} GB/s",
                std::min(below, above), above);
  return conclusion;
}

static void conclude(ExperimentResult &result) {
  if (all_of(result.points,
             [](const PointResult &point) { return point.samples.empty(); }))
    return;
  result.conclusions.push_back(
      compareRounds(result, findPoint(result, {{"pause", "0"}}),
                    findPoint(result, {{"pause", idle}}),
                    "an idle memory against full load"));
  result.conclusions.push_back(describeKnee(result));
}

const Experiment mpg::loadedExperiment = {
    {"loaded", "latency of a load while other threads read", "ns",
     /*higherIsBetter=*/false,
     "Time of one load of a thread whose loads wait for each other, one in "
     "each "
     "line. load_gbs is what all others read meanwhile: 4 KiB, then a pause of "
     "so many turns of an empty loop.",
     "pause", "threads",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude};
