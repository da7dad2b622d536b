// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embedding lookup: rows of a large table in the order of indices, which is
// what large pages are for when one thread does it, and what caches are for
// when the indices repeat. By kind of page with all rows alike, by distribution
// on the best pages, and with a copy of the table on each NUMA node.

#include "mpgbench/Experiments/EmbedWork.h"
#include "mpgbench/Run/BenchMemory.h"
#include "mpgbench/Run/BenchPoints.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

/// In full the guide's rows with a quarter of its dim: 0.58 GiB, the smaller
/// one of its tables. Quick: as many rows on a page of 4 KiB as the guide has
/// on one of 64 KiB.
static constexpr uint64_t fullDim = 1024, quickRows = 131072, quickDim = 256;

/// Short rows, in a table of as many bytes: each lookup touches another page,
/// and the little copying does not hide that.
static constexpr uint64_t shortDim = 16;

/// The same rows in each repetition and each run.
static constexpr uint64_t seed = 20240;

static constexpr StringLiteral distributions[] = {"uniform", "zipf-0.8",
                                                  "zipf-1.0", "zipf-1.2"};

// Plan

/// Table and results of \p rows rows, \p copies of the table.
static uint64_t bytesFor(uint64_t rows, uint64_t dim, uint64_t copies = 1) {
  return (rows * copies + lookupsFor(rows)) * dim * sizeof(float);
}

/// Memory that all points of the plan can have: sizes must be the same for all
/// kinds of pages, so a small pool makes all of them smaller; one that is
/// nearly empty does not, its points are missing.
static uint64_t roomBytes(const PlanContext &context) {
  constexpr uint64_t minPool = 128 << 20;
  uint64_t room = context.memoryBytes;
  if (const HugePool *pool = context.node.pages.largePool()) {
    uint64_t bytes = multiplyCapped(pool->free.valueOr(0), pool->pageBytes);
    if (bytes >= minPool)
      room = std::min(room, bytes - 4 * largePageBytes);
  }
  return room;
}

/// The kind on which distributions are compared: 2M where they are to be had.
static std::string bestPages(const PlanContext &context,
                             const std::vector<PageKind> &kinds,
                             uint64_t bytes) {
  std::string best = kinds.empty() ? "" : kinds.front().name;
  for (const PageKind &kind : kinds)
    if (kind.name != "1G" && whyNotNow(context.node, kind, bytes).empty())
      best = kind.name;
  return best;
}

static std::string tableName(uint64_t rows, uint64_t dim) {
  return std::to_string(rows) + "x" + std::to_string(dim);
}

static PlannedPoint planPoint(StringRef pages, unsigned threads,
                              StringRef distribution, StringRef table) {
  return {{{"pages", pages.str()},
           {"threads", std::to_string(threads)},
           {"distribution", distribution.str()},
           {"table", table.str()}}};
}

/// The guide's chapter 15: half precision, paged in where it is touched.
static void planReplication(const PlanContext &context, uint64_t rows,
                            uint64_t dim, std::vector<PlannedPoint> &points) {
  std::vector<const NumaNode *> nodes = context.node.numa.usable();
  uint64_t room = context.memoryBytes;
  while (rows > 1 && bytesFor(rows, dim, nodes.size() + 1) / 2 > room)
    rows /= 2;
  for (const char *replication : {"off", "on"}) {
    PlannedPoint point =
        planPoint("libmpg", context.cpus, "uniform", tableName(rows, dim));
    point.parameters.push_back({"replication", replication});
    point.needsRuntime = true;
    point.environment = {{"XOS_MMM_L_PAGING_POLICY", "demand:demand:demand"}};
    if (nodes.size() < 2)
      point.missing = "one NUMA node: a replica would be the table itself";
    points.push_back(std::move(point));
  }
}

static std::vector<PlannedPoint> plan(const PlanContext &context) {
  uint64_t rows = context.quick ? quickRows : guideRows;
  uint64_t dim = context.quick ? quickDim : fullDim;
  uint64_t room = roomBytes(context);
  while (rows > 1 && bytesFor(rows, dim) > room)
    rows /= 2;
  std::string table = tableName(rows, dim);
  std::string shortTable = tableName(rows * dim / shortDim, shortDim);
  std::vector<PageKind> kinds = pageKinds(context.node);
  std::string best = bestPages(context, kinds, bytesFor(rows, dim));
  std::vector<PlannedPoint> points;
  auto planKind = [&](const PageKind &kind, unsigned threads,
                      StringRef tableName) {
    points.push_back(planPoint(kind.name, threads, "uniform", tableName));
    // Two arrays: each begins with a new page.
    points.back().missing =
        whyNotNow(context.node, kind, bytesFor(rows, dim) + kind.pageBytes);
  };
  for (const PageKind &kind : kinds)
    for (unsigned threads : threadCounts(context))
      planKind(kind, threads, table);
  for (const PageKind &kind : kinds)
    if (kind.name == "2M" || kind.name == basePageName())
      planKind(kind, 1, shortTable);
  for (StringRef distribution : ArrayRef(distributions).drop_front())
    if (!best.empty())
      points.push_back(planPoint(best, context.cpus, distribution, table));
  planReplication(context, rows, dim, points);
  return points;
}

// Measuring

/// The exponent of a distribution's name; nothing if it is not one.
static std::optional<double> parseAlpha(StringRef distribution) {
  if (distribution == "uniform")
    return 0;
  double alpha = 0;
  if (!distribution.consume_front("zipf-") || distribution.getAsDouble(alpha))
    return std::nullopt;
  return alpha;
}

/// What \p parameters ask for, without indices; or an error.
static EmbedWork readWork(const Parameters &parameters, std::string &error) {
  EmbedWork work;
  auto [rows, dim] = parameter(parameters, "table").split('x');
  // More of either is a mistake, not a table.
  constexpr uint64_t max = 1 << 24;
  Parameters shape = {{"rows", rows.str()}, {"dim", dim.str()}};
  work.rows = readCount(shape, "rows", max, error);
  work.dim = readCount(shape, "dim", max, error);
  work.lookups = lookupsFor(work.rows);
  work.threads = readThreads(parameters, error);
  return work;
}

static WorkerResult measure(const Parameters &parameters) {
  WorkerResult result;
  EmbedWork work = readWork(parameters, result.error);
  StringRef distribution = parameter(parameters, "distribution");
  std::optional<double> alpha = parseAlpha(distribution);
  if (!alpha && result.error.empty())
    result.error = "there is no distribution '" + distribution.str() + "'";
  StringRef replication = parameter(parameters, "replication");
  if (result.error.empty() && !replication.empty())
    result.error = whyWrongHeap(true);
  if (!result.error.empty())
    return result;
  Expected<std::vector<int32_t>> indices =
      drawRows(work.rows, *alpha, embedPasses * work.lookups, seed);
  if (!indices) {
    result.error = toString(indices.takeError());
    return result;
  }
  work.indices = std::move(*indices);
  result.figures["unique_rows"] = double(
      countUnique(ArrayRef(work.indices).take_front(work.lookups), work.rows));
  if (replication.empty()) {
    measureOnPages(result, work, parameter(parameters, "pages"));
    return result;
  }
  work.elementBytes = 2;
  measureOnNodes(result, work, replication == "on");
  return result;
}

// Conclusions

static std::vector<GuideFigure> guide() {
  const char *pages = "guide 14.2: dim 4096, rows read and written, no "
                      "write-allocate";
  const char *zipf = "guide 14.5: dim 4096, 12 threads, rows read and written, "
                     "no write-allocate";
  const char *nodes = "guide 15.4: dim 4096, half precision, rows "
                      "read and written, no write-allocate";
  std::string base = basePageName();
  return {
      {"A64FX, 1 thread, 64 KiB pages", 33.0, pages, base},
      {"A64FX, 1 thread, 2 MiB pages", 42.3, pages, "2M"},
      {"A64FX, 12 threads, 64 KiB pages", 125.0, pages, base},
      {"A64FX, 12 threads, 2 MiB pages", 123.3, pages, "2M"},
      {"A64FX, 48 threads, 64 KiB pages", 71.7, pages, base},
      {"A64FX, 48 threads, 2 MiB pages", 77.7, pages, "2M"},
      {"A64FX, Zipf 0.8", 128, zipf, "2M"},
      {"A64FX, Zipf 1.0", 144, zipf, "2M"},
      {"A64FX, Zipf 1.2", 169, zipf, "2M"},
      {"A64FX, 48 threads, one table in single precision", 77.7, pages,
       "libmpg"},
      {"A64FX, 48 threads, a table for each node", 434.6, nodes, "libmpg"},
  };
}

/// The largest number of threads of any point.
static std::string allThreads(const ExperimentResult &result) {
  uint64_t max = 1;
  for (const std::string &value : getValues(result, "threads"))
    max = std::max(max, parseNumber(value).value_or(1));
  return std::to_string(max);
}

/// By page size; with 1 thread and with \p threads, where that was planned.
static void concludePages(ExperimentResult &result, const std::string &table,
                          const std::string &threads) {
  bool isShort = StringRef(table).ends_with("x" + std::to_string(shortDim));
  auto compareWith = [&](const std::string &count, const char *guideSays) {
    Parameters others = {
        {"threads", count}, {"distribution", "uniform"}, {"table", table}};
    const PointResult *point = findPoint(result, others);
    // Points with replication have one kind of memory: nothing to compare.
    if (point && parameter(point->parameters, "replication").empty())
      comparePages(result, others,
                   "uniform lookups" +
                       std::string(isShort ? " of 64 bytes" : "") + ", " +
                       countThreads(count) + guideSays);
  };
  compareWith("1", isShort ? "" : " (guide: 1.28x, 2 MiB against 64 KiB)");
  if (threads != "1")
    compareWith(threads, " (guide, 12 threads: 0.99x, 2 MiB against 64 KiB)");
}

static void conclude(ExperimentResult &result) {
  std::string threads = allThreads(result);
  for (const std::string &table : getValues(result, "table"))
    concludePages(result, table, threads);
  if (const PointResult *zipf =
          findPoint(result, {{"distribution", "zipf-1.2"}})) {
    Parameters uniform = zipf->parameters;
    for (auto &[name, value] : uniform)
      if (name == "distribution")
        value = "uniform";
    result.conclusions.push_back(
        compareRounds(result, findPoint(result, uniform), zipf,
                      "Zipf 1.2 against uniform, " + countThreads(threads) +
                          " (guide, 12 threads: 1.37x)"));
  }
  const PointResult *shared = findPoint(result, {{"replication", "off"}});
  const PointResult *replicated = findPoint(result, {{"replication", "on"}});
  if (shared || replicated)
    result.conclusions.push_back(compareRounds(
        result, shared, replicated,
        "a table on each NUMA node against one table (guide, four nodes: 434.6 "
        "GB/s; 77.7 with one, in single precision)"));
}

const Experiment mpg::embedExperiment = {
    {"embed", "embedding lookup: rows of a large table by index", "GB/s", true,
     "rows read and rows written, 2 x dim x 4 bytes for each lookup (x 2 in "
     "half precision, with replication); neither indices nor write-allocate",
     "pages", "distribution", false},
    plan,
    measure,
    conclude,
    guide};
