// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// triad: the guide's 7.1 (STREAM triad by page size) and 7.2 (by paging
// policy). docs/mpgbench-experiments.md says how, and what to expect.

#include "Support/Format.h"
#include "mpg/kernels.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include <cstdlib>

using namespace llvm;
using namespace mpg;

/// The guide's, and for --quick: still more than the caches of most machines.
static constexpr uint64_t guideElements = 83880960,
                          quickElements = 6 * 1024 * 1024;
/// A repetition makes so many passes over the arrays that at least so many
/// bytes move.
static constexpr uint64_t minBytesMoved = 500 * 1000 * 1000;
static constexpr unsigned repeats = 5;
static constexpr uint64_t bytesPerElement = 24; ///< two loads, one store
/// Parts of threads meet where a line of 256 bytes ends. HW:a64fx-l1d-way
static constexpr uint64_t elementsPerLine = 32;
/// Each array begins so much further after the start of a page than the one
/// before: streams that compete for the same sets of a cache are another
/// experiment (thresh). HW:a64fx-l1d-way, HW:x86-l1d-way
static constexpr uint64_t shiftElements = 5 * elementsPerLine;

// Plan

/// Of all three arrays together.
static uint64_t allBytes(uint64_t n) {
  return 3 * (n + shiftElements) * sizeof(double);
}

static uint64_t chooseElements(const PlanContext &context) {
  uint64_t wanted = context.quick ? quickElements : guideElements;
  uint64_t bytes = allBytes(wanted);
  return wanted / (bytes / sizeThatFits(context, bytes));
}

static PlannedPoint planPolicy(const PlanContext &context, StringRef policy,
                               uint64_t n) {
  PlannedPoint point;
  point.parameters = {{"pages", "2M"},
                      {"threads", std::to_string(context.cpus)},
                      {"n", std::to_string(n)},
                      {"policy", policy.str()}};
  point.needsRuntime = true;
  point.environment = {
      {"XOS_MMM_L_PAGING_POLICY", ("prepage:demand:" + policy).str()},
      {"MPG_MODE", "hugetlb"}};
  if (!context.hasRuntime)
    point.missing = "libmpgrt.so was not found";
  else
    point.missing = poolShortage(context.node.pages, largePageBytes,
                                 allBytes(n) + 2 * largePageBytes);
  return point;
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t n = chooseElements(context);
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : pageKinds(context.node))
    for (unsigned threads : threadCounts(context))
      points.push_back({{{"pages", kind.name},
                         {"threads", std::to_string(threads)},
                         {"n", std::to_string(n)}},
                        whyNotNow(context.node, kind, allBytes(n))});
  for (const char *policy : {"prepage", "demand"})
    points.push_back(planPolicy(context, policy, n));
  return points;
}

// Worker

namespace {

struct Arrays {
  double *a, *b, *c;
  uint64_t n;
  unsigned threads;

  Arrays(double *memory, uint64_t n, unsigned threads)
      : a(memory), b(a + n + shiftElements), c(b + n + shiftElements), n(n),
        threads(threads) {}
  Part part(unsigned thread) const {
    return getPart(n, elementsPerLine, thread, threads);
  }
};

} // namespace

static constexpr double factor = 3, valueB = 1, valueC = 2;

/// Each thread writes its own part first, so that the pages lie on its node.
static double touchArrays(const Arrays &arrays) {
  return runTogether(arrays.threads, [&](unsigned thread) {
    Part part = arrays.part(thread);
    for (uint64_t i = part.begin; i < part.end; ++i) {
      arrays.a[i] = 0;
      arrays.b[i] = valueB;
      arrays.c[i] = valueC;
    }
  });
}

static void checkResult(const Arrays &arrays, WorkerResult &result) {
  for (uint64_t i = 0; i < arrays.n; ++i)
    if (arrays.a[i] != valueB + factor * valueC) {
      result.error = "a[" + std::to_string(i) + "] is wrong";
      return;
    }
}

/// pre: the arrays are there, and not touched.
static void measureArrays(const Arrays &arrays, WorkerResult &result) {
  result.figures["first_touch_ms"] = touchArrays(arrays) * 1e3;
  uint64_t passBytes = arrays.n * bytesPerElement;
  uint64_t passes = (minBytesMoved + passBytes - 1) / passBytes;
  measureRepeats(result, repeats, [&] {
    return runTogether(arrays.threads, [&](unsigned thread) {
      Part part = arrays.part(thread);
      for (uint64_t pass = 0; pass < passes; ++pass)
        mpg_stream_triad_f64(arrays.a, arrays.b, arrays.c, factor,
                             int64_t(part.begin), int64_t(part.end), nullptr);
    });
  });
  checkResult(arrays, result);
  if (result.error.empty())
    result.value = double(passBytes * passes) / result.value * 1e-9;
}

/// Arrays from malloc, which is libmpg's: it has the policy from the
/// environment.
static void measurePolicy(uint64_t n, unsigned threads, WorkerResult &result) {
  result.error = whyWrongHeap(/*wantsLibmpg=*/true);
  if (!result.error.empty())
    return;
  double *memory = static_cast<double *>(malloc(allBytes(n)));
  if (!memory) {
    result.error = "malloc has no memory of " + formatBytes(allBytes(n));
    return;
  }
  measureArrays(Arrays(memory, n, threads), result);
  addRangeBacking(memory, allBytes(n), result.backing);
  if (result.error.empty())
    result.error = checkBackingOn("2M", result.backing);
  free(memory);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t n =
      readCount(parameters, "n", maxBytes / bytesPerElement / 2, result.error);
  unsigned threads = readThreads(parameters, result.error);
  if (!result.error.empty())
    return result;
  StringRef policy = parameter(parameters, "policy");
  if (policy.empty())
    measureOn(parameters, allBytes(n), result, [&](const BenchMemory &memory) {
      measureArrays(Arrays(memory.as<double>(), n, threads), result);
    });
  else if (policy == "demand" || policy == "prepage")
    measurePolicy(n, threads, result);
  else
    result.error =
        "policy=" + printable(policy) + ": neither demand nor prepage";
  return result;
}

// Conclusions

/// The guide counts four accesses an element in 7.1, the line that a store
/// reads before it is written among them: 10 passes over n elements in 0.435 s
/// are 61.76 GB/s only at 32 bytes each. A64FX could do without that read.
static double withoutWriteAllocate(double guideGbps) {
  return guideGbps * 24 / 32;
}

static std::vector<GuideFigure> guide() {
  std::string base = basePageName();
  return {{"A64FX, 1 thread, 64 KiB pages", withoutWriteAllocate(61.76),
           "guide 7.1: 61.76 GB/s with write-allocate, times 24/32", base},
          {"A64FX, 1 thread, 2 MiB pages", withoutWriteAllocate(77.29),
           "guide 7.1: 77.29 GB/s with write-allocate, times 24/32", "2M"},
          {"A64FX, 48 threads, prepage", 93,
           "guide 7.2; how bytes are counted is not told", "prepage"},
          {"A64FX, 48 threads, demand", 804,
           "guide 7.2; how bytes are counted is not told", "demand"}};
}

static void conclude(ExperimentResult &result) {
  for (const std::string &threads : getValues(result, "threads"))
    comparePages(result, {{"threads", threads}, {"policy", ""}},
                 "triad, " + countThreads(threads));
  result.conclusions.push_back(compareRounds(
      result, findPoint(result, {{"policy", "prepage"}}),
      findPoint(result, {{"policy", "demand"}}),
      "triad, all threads, 2M pages of libmpg: demand paging against prepage"));
}

const Experiment mpg::triadExperiment = {
    {"triad",
     "STREAM triad by page size, threads and paging policy (guide 7.1, 7.2)",
     "GB/s",
     /*higherIsBetter=*/true,
     "24 bytes an element: two loads and a store. The line that a store reads "
     "before it is written (write-allocate) is not counted; the guide's 7.1 "
     "counts it.",
     "pages", "threads",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude,
    guide};
