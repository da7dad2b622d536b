// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tlb: how many pages of each size the TLBs reach, and how many of a set.
// docs/mpgbench-experiments.md says how, and what to expect.
//
// Large pages are one physical page that is mapped again and again. A TLB knows
// virtual pages, so thousands of them cost no memory; the caches know physical
// lines, so they do not affect the measurement.

#include "Support/Format.h"
#include "mpg/kernels.h"
#include "mpgbench/Experiments/MemoryWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static constexpr unsigned repeats = 5;
static constexpr uint64_t minLoads = 512 * 1024;
static constexpr uint64_t maxPages = 8192;
static constexpr uint64_t lineBytes = 64;
/// The same order in each process.
static constexpr uint64_t seedOfOrder = 20234;
/// Pages so far apart fall into one set of any TLB that picks sets by the low
/// bits of the page number.
static constexpr uint64_t setSpacing = 1024;

// Plan

static void planKind(const PlanContext &context, const PageKind &kind,
                     uint64_t spacing, const std::vector<uint64_t> &counts,
                     std::vector<PlannedPoint> &points) {
  for (uint64_t count : counts)
    points.push_back({{{"pages", kind.name},
                       {"apart", std::to_string(spacing)},
                       {"count", std::to_string(count)}},
                      whyNotNow(context.node, kind, kind.pageBytes)});
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  std::vector<uint64_t> counts = {16, 512, 4096}, ofOneSet;
  if (!context.quick) {
    counts.clear();
    for (uint64_t count = 8; count <= maxPages; count *= 2)
      for (uint64_t more : {count, count + count / 2})
        if (more <= maxPages)
          counts.push_back(more);
    ofOneSet = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128};
  }
  std::vector<PlannedPoint> points;
  for (const PageKind &kind : pageKinds(context.node)) {
    // Transparent pages are in the TLB what those of the pool are.
    if (kind.isTransparent)
      continue;
    planKind(context, kind, 1, counts, points);
    planKind(context, kind, setSpacing, ofOneSet, points);
  }
  return points;
}

// Worker

namespace {

/// Virtual pages, each the given number of pages after the one before.
class PageRow {
public:
  PageRow(const PageKind &kind, uint64_t count, uint64_t apart);
  ~PageRow() {
    if (range)
      munmap(range, bytes);
  }
  PageRow(const PageRow &) = delete;
  PageRow &operator=(const PageRow &) = delete;

  const std::string &error() const { return problem; }
  /// A line of page \p index. From page to page the next line of another 4 KiB:
  /// no two share a place in the caches, and a virtual machine whose host has
  /// smaller pages does not see all of them in one set of its TLB.
  void **line(uint64_t index) const {
    uint64_t offset = index * (4096 + lineBytes) % pageBytes;
    return reinterpret_cast<void **>(start + index * apartBytes + offset);
  }

private:
  bool mapAliases(uint64_t count);

  uint64_t pageBytes, apartBytes;
  char *start = nullptr;
  void *range = nullptr;
  size_t bytes = 0;
  std::string problem;
};

} // namespace

static int makeLargeFile(uint64_t pageBytes) {
  constexpr unsigned mfdHugetlb = 4, sizeShift = 26; // linux/memfd.h
  int file = int(syscall(SYS_memfd_create, "mpgbench-tlb",
                         mfdHugetlb | Log2_64(pageBytes) << sizeShift));
  if (file >= 0 && ftruncate(file, off_t(pageBytes)) != 0) {
    close(file);
    return -1;
  }
  return file;
}

/// Maps one page of the pool \p count times.
bool PageRow::mapAliases(uint64_t count) {
  int file = makeLargeFile(pageBytes);
  if (file < 0)
    return false;
  bool isMapped = true;
  for (uint64_t i = 0; i < count && isMapped; ++i)
    isMapped =
        mmap(start + i * apartBytes, pageBytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) != MAP_FAILED;
  int error = errno;
  close(file);
  errno = error;
  return isMapped;
}

PageRow::PageRow(const PageKind &kind, uint64_t count, uint64_t apart)
    : pageBytes(kind.pageBytes), apartBytes(kind.pageBytes * apart) {
  bytes = apartBytes * count + pageBytes;
  int protection = kind.isHugetlb ? PROT_NONE : PROT_READ | PROT_WRITE;
  void *reserved = mmap(nullptr, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved != MAP_FAILED) {
    range = reserved;
    start = reinterpret_cast<char *>(alignTo(uintptr_t(range), pageBytes));
    if (!kind.isHugetlb)
      madvise(range, bytes, MADV_NOHUGEPAGE);
    if (!kind.isHugetlb || mapAliases(count))
      return;
  }
  problem = "no " + std::to_string(count) + " pages of " + kind.name + ", " +
            formatBytes(apartBytes) + " apart: " + strerror(errno);
}

/// Makes a cycle of \p cells in random order; returns one of them.
static void **link(const std::vector<void **> &cells) {
  std::mt19937_64 random(seedOfOrder);
  std::vector<size_t> order = randomOrder(cells.size(), random);
  for (size_t i = 0; i < order.size(); ++i)
    *cells[order[i]] = cells[order[(i + 1) % order.size()]];
  return cells[order[0]];
}

/// Nanoseconds of a load along the cycle of \p cells.
static double chaseCells(const std::vector<void **> &cells,
                         WorkerResult &result) {
  void *cell = link(cells);
  uint64_t loads = alignTo(minLoads, cells.size());
  measureRepeats(result, repeats, [&] {
    return runTogether(
        1, [&](unsigned) { cell = mpg_chase(cell, int64_t(loads)); });
  });
  return result.value * 1e9 / double(loads);
}

/// As many lines in as few pages as hold them: what the caches take.
static double chasePacked(uint64_t count, WorkerResult &result) {
  std::vector<uint64_t> memory((count + 1) * lineBytes / sizeof(uint64_t));
  uintptr_t start = alignTo(uintptr_t(memory.data()), lineBytes);
  std::vector<void **> cells;
  for (uint64_t i = 0; i < count; ++i)
    cells.push_back(reinterpret_cast<void **>(start + i * lineBytes));
  return chaseCells(cells, result);
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  uint64_t count = readCount(parameters, "count", 2 * maxPages, result.error);
  uint64_t apart = readCount(parameters, "apart", 1 << 20, result.error);
  Expected<PageKind> kind = findPageKind(parameter(parameters, "pages"));
  if (!kind)
    result.error = toString(kind.takeError());
  if (!result.error.empty())
    return result;
  PageRow row(*kind, count, apart);
  result.error = row.error();
  if (!result.error.empty())
    return result;
  std::vector<void **> cells;
  for (uint64_t i = 0; i < count; ++i)
    cells.push_back(row.line(i));
  result.figures["packed_ns"] = chasePacked(count, result);
  result.value = chaseCells(cells, result);
  return result;
}

// Conclusions

static uint64_t getCount(const PointResult &point) {
  return parseNumber(parameter(point.parameters, "count")).value_or(0);
}

/// The time that translations add to each point, on top of the smallest point.
static std::vector<double> costs(const std::vector<const PointResult *> &row) {
  std::vector<double> curve;
  for (const PointResult *point : row)
    curve.push_back(std::max(point->summary.median -
                                 findFigure(*point, "packed_ns").value_or(0),
                             0.0) +
                    row.front()->summary.median);
  return curve;
}

/// "4K pages: the first TLB reaches 64 to 96 pages, ..."
static void reportReach(ExperimentResult &result, const std::string &pages,
                        uint64_t apart, StringRef what) {
  std::vector<const PointResult *> row = getCurve(
      result, {{"pages", pages}, {"apart", std::to_string(apart)}}, "count");
  if (row.size() < 4)
    return;
  std::vector<double> curve = costs(row);
  std::vector<Level> levels = findLevels(curve);
  Conclusion conclusion;
  conclusion.kind = Conclusion::Kind::yes;
  conclusion.text = pages + " pages" + what.str() + ":";
  for (const Level &level : levels) {
    bool isLast = level.last + 1 == row.size();
    conclusion.text += formatv(
        "{0} {1:f1} ns {2} {3}", &level == &levels.front() ? "" : ",",
        level.value, isLast ? "for" : "up to", getCount(*row[level.last]));
  }
  if (any_of(row, [](const PointResult *point) { return point->isBusy; })) {
    conclusion.kind = Conclusion::Kind::undecided;
    conclusion.text += "; the machine was busy, so this is not a verdict";
  }
  result.conclusions.push_back(std::move(conclusion));
}

static void conclude(ExperimentResult &result) {
  for (const std::string &pages : getValues(result, "pages")) {
    reportReach(result, pages, 1, "");
    reportReach(result, pages, setSpacing, " of one set");
  }
}

const Experiment mpg::tlbExperiment = {
    {"tlb", "reach of the TLBs: loads that go over a number of pages", "ns",
     /*higherIsBetter=*/false,
     "Time of one load; one line in each page, at another offset in each, in "
     "random order. packed_ns: the same number of lines in as few pages as "
     "possible, which is what the caches take.",
     "count", "pages",
     /*xIsNumber=*/true},
    plan,
    measure,
    conclude};
