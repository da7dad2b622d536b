// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eight arrays of the same size out of malloc, read at one index: where they
// begin decides whether they compete for the sets of the L1 cache. The time is
// this machine's, whose L1 differs from A64FX's; the count beside it is what
// the same addresses would mean there.

#include "mpgbench/Experiments/ExperimentThresh.h"
#include "Node/NodeMachine.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/Experiment.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <memory>

using namespace llvm;
using namespace mpg;

/// As the guide's example: 512 KiB each, a multiple of a way of A64FX's L1.
static constexpr size_t side = 256, elements = side * side;
static constexpr size_t arrayBytes = elements * sizeof(double);
static constexpr size_t arrayCount = 8;

/// In the measured part, so that it takes milliseconds.
static constexpr unsigned sweeps = 20, repeats = 7;

/// Of MALLOC_MMAP_THRESHOLD_; the guide's remedy is below the arrays' size.
static constexpr StringLiteral thresholds[] = {"default", "204800"};
static constexpr StringLiteral heaps[] = {"glibc", "coloring-0", "coloring-1"};

static constexpr StringLiteral figureSets = "conflicting_a64fx_sets";

static std::vector<PlannedPoint> plan(const PlanContext &) {
  std::vector<PlannedPoint> points;
  for (StringRef heap : heaps)
    for (StringRef threshold : thresholds) {
      PlannedPoint point;
      point.parameters = {{"heap", heap.str()}, {"threshold", threshold.str()}};
      point.needsRuntime = heap != "glibc";
      if (point.needsRuntime)
        point.environment.push_back(
            {"XOS_MMM_L_COLORING", heap.substr(heap.size() - 1).str()});
      if (threshold != "default")
        point.environment.push_back(
            {"MALLOC_MMAP_THRESHOLD_", threshold.str()});
      points.push_back(std::move(point));
    }
  return points;
}

// Measuring

namespace {

struct FreeBlock {
  void operator()(double *block) const { free(block); }
};
using Block = std::unique_ptr<double, FreeBlock>;
using Arrays = std::array<Block, arrayCount>;

} // namespace

/// A five-point stencil on one array, and six more at the same index.
__attribute__((noinline)) static void sweep(const Arrays &arrays) {
  double *out = arrays[0].get();
  const double *u = arrays[1].get(), *b = arrays[2].get(), *c = arrays[3].get(),
               *d = arrays[4].get(), *e = arrays[5].get(), *f = arrays[6].get(),
               *g = arrays[7].get();
  for (size_t row = 1; row + 1 < side; ++row)
    for (size_t i = row * side + 1; i < row * side + side - 1; ++i)
      out[i] = 0.25 * (u[i - 1] + u[i + 1] + u[i - side] + u[i + side]) +
               b[i] * c[i] + d[i] * e[i] + f[i] * g[i];
}

/// The result of sweep() on arrays that fill() filled.
static constexpr double expected = 1.0 + 2 * 3 + 4 * 5 + 6 * 7;

static void fill(const Arrays &arrays) {
  for (size_t i = 0; i < arrayCount; ++i)
    std::fill_n(arrays[i].get(), elements, double(i));
}

static void addFigures(WorkerResult &result, const Arrays &arrays) {
  std::vector<uint64_t> starts;
  for (const Block &array : arrays)
    starts.push_back(uint64_t(uintptr_t(array.get())));
  SetConflicts there = countConflicts(starts, arrayBytes, a64fxL1d);
  result.figures[figureSets.str()] = double(there.sets);
  result.figures["most_arrays_in_one_a64fx_set"] = double(there.maxArrays);
  std::optional<CacheShape> shape = readL1d(SysTree("/"));
  if (!shape)
    return;
  SetConflicts here = countConflicts(starts, arrayBytes, *shape);
  result.figures["conflicting_sets_here"] = double(here.sets);
  result.figures["most_arrays_in_one_set_here"] = double(here.maxArrays);
  result.figures["ways_here"] = double(shape->ways);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  StringRef heap = parameter(parameters, "heap");
  if (!is_contained(heaps, heap)) {
    result.error = "there is no heap '" + heap.str() + "'";
    return result;
  }
  result.error = whyWrongHeap(heap != "glibc");
  if (!result.error.empty())
    return result;
  // All of them before anything else is allocated, as a program does it.
  Arrays arrays;
  for (Block &array : arrays) {
    array.reset(static_cast<double *>(malloc(arrayBytes)));
    if (!array) {
      result.error = "malloc gives no 512 KiB";
      return result;
    }
  }
  fill(arrays);
  measureRepeats(result, repeats, [&] {
    return runTogether(1, [&](unsigned) {
      for (unsigned i = 0; i < sweeps; ++i)
        sweep(arrays);
    });
  });
  result.value *= 1e3 / sweeps;
  if (arrays[0].get()[elements / 2 + side / 2] != expected)
    result.error = "the sweep computed something else";
  for (const Block &array : arrays)
    addRangeBacking(array.get(), arrayBytes, result.backing);
  addFigures(result, arrays);
  return result;
}

// Conclusions

/// The largest of the samples': addresses differ from process to process. pre:
/// the point was measured.
static double getMaxSets(const PointResult &point) {
  double max = 0;
  for (const WorkerResult &sample : point.samples) {
    auto at = sample.figures.find(figureSets.str());
    if (at != sample.figures.end())
      max = std::max(max, at->second);
  }
  return max;
}

static Conclusion countSets(const ExperimentResult &result,
                            const PointResult *plain,
                            const PointResult *coloured) {
  const char *what =
      "sets of A64FX's L1 in which more than 4 of the 8 arrays meet";
  Conclusion conclusion = compareRounds(result, plain, coloured, what);
  if (conclusion.kind == Conclusion::Kind::notMeasured)
    return conclusion;
  // Addresses are what they are, however busy the machine was.
  conclusion.ratio = {};
  double before = getMaxSets(*plain), after = getMaxSets(*coloured);
  conclusion.kind =
      after < before ? Conclusion::Kind::yes : Conclusion::Kind::no;
  conclusion.text =
      formatv("{0}: {1} of {2} with COLORING=0, {3} with COLORING=1", what,
              uint64_t(before), a64fxL1d.sets, uint64_t(after));
  return conclusion;
}

static void conclude(ExperimentResult &result) {
  const PointResult *plain =
      findPoint(result, {{"heap", "coloring-0"}, {"threshold", "default"}});
  const PointResult *coloured =
      findPoint(result, {{"heap", "coloring-1"}, {"threshold", "default"}});
  if (!plain && !coloured)
    return;
  result.conclusions.push_back(countSets(result, plain, coloured));
  result.conclusions.push_back(
      compareRounds(result, plain, coloured,
                    "time of a sweep on this machine's cache, COLORING=1 "
                    "against 0"));
}

const Experiment mpg::threshExperiment = {
    {"thresh",
     "eight equal arrays out of malloc: which of them meet in one set of L1",
     "ms", false,
     "time of one sweep over eight arrays of 256 x 256 doubles, one thread; "
     "sets are counted from the arrays' addresses",
     "heap", "threshold", false},
    plan,
    measure,
    conclude};

// Conflicts

std::optional<CacheShape> mpg::readL1d(const SysTree &tree) {
  for (const DataCache &cache : readDataCaches(tree)) {
    if (cache.level != 1)
      continue;
    // A file may say anything; this many sets or bytes no L1 cache has.
    constexpr uint64_t max = 1 << 20;
    if (cache.sets == 0 || cache.ways == 0 || cache.lineBytes == 0 ||
        cache.sets > max || cache.lineBytes > max)
      return std::nullopt;
    return CacheShape{cache.sets, cache.ways, cache.lineBytes};
  }
  return std::nullopt;
}

/// Borders of lines and of sets do not lie between two of these: malloc aligns
/// to 16.
static constexpr uint64_t stepBytes = 8;

SetConflicts mpg::countConflicts(ArrayRef<uint64_t> starts, uint64_t bytes,
                                 const CacheShape &shape) {
  assert(shape.sets > 0 && shape.ways > 0 && shape.lineBytes > 0);
  // From there on everything comes again.
  uint64_t period = std::min(bytes, shape.sets * shape.lineBytes);
  std::vector<bool> isConflicting(shape.sets);
  SetConflicts conflicts;
  std::vector<uint64_t> getSet(starts.size());
  for (uint64_t offset = 0; offset < period; offset += stepBytes) {
    for (size_t i = 0; i < starts.size(); ++i)
      getSet[i] = (starts[i] + offset) / shape.lineBytes % shape.sets;
    for (uint64_t set : getSet) {
      auto arrays = uint64_t(std::count(getSet.begin(), getSet.end(), set));
      conflicts.maxArrays = std::max(conflicts.maxArrays, arrays);
      if (arrays > shape.ways)
        isConflicting[set] = true;
    }
  }
  conflicts.sets =
      uint64_t(std::count(isConflicting.begin(), isConflicting.end(), true));
  return conflicts;
}
