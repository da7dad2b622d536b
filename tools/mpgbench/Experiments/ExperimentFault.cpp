// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fault: what the first touch of memory costs by page size. It takes pages from
// the kernel, which zeroes them; on small pages the faults themselves cost
// more than the zeroes. docs/mpgbench-experiments.md says how, and what to
// expect.

#include "Support/Format.h"
#include "mpg/advice.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr uint64_t fullBytes = 1 << 30, quickBytes = 128 << 20;
static constexpr unsigned repeats = 3;

// Plan

static PlannedPoint planPoint(const PlanContext &context, const PageKind &kind,
                              unsigned threads, const char *by,
                              uint64_t bytes) {
  // Less than a page cannot be touched.
  bytes = std::max(bytes, kind.pageBytes);
  return {{{"pages", kind.name},
           {"threads", std::to_string(threads)},
           {"by", by},
           {"bytes", sizeName(bytes)}},
          whyNotNow(context.node, kind, bytes)};
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t bytes = sizeThatFits(context, quickBytes, fullBytes);
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : pageKinds(context.node)) {
    for (unsigned threads : threadCounts(context))
      points.push_back(planPoint(context, kind, threads, "touch", bytes));
    if (!context.quick)
      points.push_back(planPoint(context, kind, 1, "populate", bytes));
  }
  return points;
}

// Worker

namespace {

struct FaultPoint {
  StringRef pages;
  uint64_t bytes;
  unsigned threads;
  bool byPopulate;
};

struct FirstTouch {
  double seconds = 0;
  uint64_t faults = 0;
};

} // namespace

static uint64_t countFaults() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? uint64_t(usage.ru_minflt) : 0;
}

/// Writes to each base page, whatever the kind: the same loop for all.
static double touch(const FaultPoint &point, char *memory) {
  uint64_t step = uint64_t(sysconf(_SC_PAGESIZE));
  return runTogether(point.threads, [&](unsigned thread) {
    // Two threads in one large page would wait for each other.
    Part part = getPart(point.bytes, largePageBytes, thread, point.threads);
    for (uint64_t at = part.begin; at < part.end; at += step)
      *static_cast<volatile char *>(memory + at) = 1;
  });
}

static double populate(const FaultPoint &point, char *memory,
                       WorkerResult &result) {
  return runTogether(1, [&](unsigned) {
    if (madvise(memory, point.bytes, MPG_ADVICE_POPULATE_WRITE) != 0)
      result.error = std::string("MADV_POPULATE_WRITE: ") + strerror(errno);
  });
}

/// Maps, touches, looks, and unmaps. Only the touch is on the clock.
static FirstTouch touchOnce(const FaultPoint &point, WorkerResult &result) {
  FirstTouch first;
  BenchMemory memory(point.bytes, point.pages);
  result.error = memory.error();
  if (!result.error.empty())
    return first;
  uint64_t before = countFaults();
  first.seconds = point.byPopulate ? populate(point, memory.as<char>(), result)
                                   : touch(point, memory.as<char>());
  first.faults = countFaults() - before;
  result.backing = Backing();
  memory.addBacking(result.backing);
  if (result.error.empty())
    result.error = memory.checkBacking();
  return first;
}

static void measureFaults(const FaultPoint &point, WorkerResult &result) {
  // The repetition that warms up matters most here: pages that this virtual
  // machine never used cost a fault of the host as well, and which ones come
  // is chance.
  FirstTouch last;
  measureRepeats(result, repeats, [&] {
    last = touchOnce(point, result);
    return last.seconds;
  });
  if (!result.error.empty())
    return;
  result.figures["faults"] = double(last.faults);
  if (last.faults)
    result.figures["ns_per_fault"] =
        result.value * 1e9 * point.threads / double(last.faults);
  double gibibytes = double(point.bytes) / double(1 << 30);
  result.value = result.value * 1e3 / gibibytes;
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  FaultPoint point = {parameter(parameters, "pages"), 0, 0, false};
  point.bytes = readSize(parameters, "bytes", maxBytes, result.error);
  point.threads = readThreads(parameters, result.error);
  StringRef by = parameter(parameters, "by");
  point.byPopulate = by == "populate";
  if (result.error.empty() && by != "touch" && !point.byPopulate)
    result.error = "by=" + printable(by) + ": neither touch nor populate";
  if (result.error.empty() && point.byPopulate && point.threads != 1)
    result.error = "by=populate is for one thread";
  if (result.error.empty())
    measureFaults(point, result);
  return result;
}

// Conclusions

/// The minimum that large pages must save; a real effect is large.
static constexpr double bar = 4;

static std::vector<GuideFigure> guide() {
  // malloc pages in at once there: 1,024 blocks of 8 MiB.
  return {{"A64FX, malloc with prepage, 2 MiB pages", 501.0 / 8,
           "guide 7.3: first malloc of 8 GiB in 0.501 s", "2M"}};
}

static void conclude(ExperimentResult &result) {
  for (const std::string &threads : getValues(result, "threads"))
    comparePages(result, {{"threads", threads}, {"by", "touch"}},
                 "first touch per GiB at least 4x cheaper, " +
                     countThreads(threads),
                 bar);
  if (is_contained(getValues(result, "by"), "populate"))
    comparePages(result, {{"by", "populate"}},
                 "paging in per GiB at least 4x cheaper by MADV_POPULATE_WRITE",
                 bar);
}

const Experiment mpg::faultExperiment = {
    {"fault", "cost of page faults: first touch of memory by page size",
     "ms/GiB",
     /*higherIsBetter=*/false,
     "Wall time from the first to the last write of one byte in each base "
     "page, "
     "for 1 GiB; mmap and munmap are not in it.",
     "pages", "threads",
     /*xIsNumber=*/false},
    plan,
    measure,
    conclude,
    guide};
