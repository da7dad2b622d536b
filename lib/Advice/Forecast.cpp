// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Forecast.h. The rules are those of our libmpg with pages of the pool:
// runtime/src/segments, stack and heap; test/soak/forecast compares.

#include "Advice/Forecast.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/JsonFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t hugeBytes = factsHugeBytes;

static uint64_t countPages(uint64_t bytes) {
  return divideCeil(bytes, hugeBytes);
}

uint64_t Forecast::pages() const {
  uint64_t sum = 0;
  for (const ForecastPart &part : parts)
    sum = SaturatingAdd(sum, part.pages.value_or(0));
  return sum;
}

bool Forecast::isWhole() const {
  return all_of(
      parts, [](const ForecastPart &part) { return part.pages.has_value(); });
}

// An earlier run

namespace {
struct RunPools {
  uint64_t heapBytes = 0, threadBytes = 0, normalBytes = 0;
  uint64_t otherBytes = 0; ///< of the pool: data, bss and the process stack
};
} // namespace

static void addRegion(const JsonFields &fields, RunPools &pools) {
  std::string region = fields.text("region");
  uint64_t bytes = std::max(fields.count("bytes"), fields.count("peak_bytes"));
  uint64_t poolBytes = fields.count("pool_bytes");
  uint64_t asideBytes = fields.count("set_aside_bytes");
  if (region == "heap" || (region == "thread-heap" && poolBytes)) {
    pools.heapBytes += alignTo(std::max(bytes, poolBytes), hugeBytes);
    return;
  }
  if (region == "thread-stack")
    pools.threadBytes += poolBytes ? poolBytes + asideBytes : 0;
  else
    pools.otherBytes += poolBytes + asideBytes;
  pools.normalBytes += bytes - std::min(bytes, poolBytes);
}

Error mpg::addRunPeaks(const std::string &path, RunPeaks &peaks) {
  constexpr size_t maxBytes = 16 << 20;
  auto refuse = [](const Twine &reason) {
    return createStringError(inconvertibleErrorCode(), reason);
  };
  auto file = readUnmapped(path, maxBytes);
  if (!file)
    return refuse(file.getError().message());
  Expected<json::Value> value = parseJson((*file)->getBuffer(), maxBytes);
  if (!value)
    return value.takeError();
  std::string error;
  JsonFields fields(*value, "", error);
  if (fields.text("schema") != "mpgreport-1" && error.empty())
    fields.fail("schema", "not mpgreport-1, which mpgrun --report --json=FILE "
                          "writes");
  RunPools pools;
  constexpr size_t maxRegions = 64;
  fields.each("regions", maxRegions,
              [&](const JsonFields &region) { addRegion(region, pools); });
  uint64_t peakBytes = fields.count("peak_hugetlb_bytes");
  if (!error.empty())
    return refuse(error);
  // Only the peak counts memory that the heap gave back before the end.
  uint64_t known = pools.otherBytes + pools.threadBytes;
  peaks.path = path;
  peaks.heapPages =
      std::max({peaks.heapPages, countPages(pools.heapBytes),
                countPages(peakBytes - std::min(peakBytes, known))});
  peaks.threadStackPages =
      std::max(peaks.threadStackPages, countPages(pools.threadBytes));
  peaks.normalBytes = std::max(peaks.normalBytes, pools.normalBytes);
  return Error::success();
}

// The parts

static MovedPages findDataPages(const FileReport &report) {
  const LayoutFacts &layout = *report.facts.layout;
  // The loader obeys p_align: addresses within a large page are the file's.
  bool isMovable =
      report.facts.pie.value_or(false) && layout.maxPageBytes < hugeBytes;
  return countMovedPages(layout.loads, layout.relro, hugeBytes, isMovable);
}

/// libmpg sets the whole limit aside, and one page more for the border.
static ForecastPart findStack(const Launch *launch) {
  constexpr uint64_t usualBytes = 8 << 20, unlimitedBytes = 64 << 20;
  uint64_t bytes =
      launch && launch->stackBytes ? *launch->stackBytes : usualBytes;
  bool isKnown = launch && launch->stackBytes;
  std::string reason = bytes == UINT64_MAX
                           ? "ulimit -s unlimited: 64 MiB"
                           : "ulimit -s of " + formatBytes(bytes) +
                                 (isKnown ? "" : ", the usual one");
  if (bytes == UINT64_MAX)
    bytes = unlimitedBytes;
  return {"process stack", countPages(bytes) + 1, reason};
}

/// A size as OpenMP has it: K without a unit.
static std::optional<uint64_t> parseOmpSize(StringRef text) {
  text = text.trim();
  unsigned shift = 10;
  if (!text.empty() && !isDigit(text.back())) {
    size_t unit = StringRef("BKMG").find(toUpper(text.back()));
    if (unit == StringRef::npos)
      return std::nullopt;
    shift = unsigned(unit) * 10;
    text = text.drop_back().trim();
  }
  uint64_t number;
  if (text.getAsInteger(10, number) || number > UINT64_MAX >> shift)
    return std::nullopt;
  return number << shift;
}

/// Only stacks whose size was asked for are on large pages.
static std::optional<ForecastPart> findThreads(const Launch *launch,
                                               const RunPeaks *peaks) {
  StringRef size = launch ? launch->environment.getValue("OMP_STACKSIZE") : "";
  std::optional<uint64_t> bytes = parseOmpSize(size);
  unsigned threads = launch ? launch->threads.value_or(0) : 0;
  if (bytes && *bytes >= hugeBytes && threads > 1)
    return ForecastPart{
        "thread stacks",
        SaturatingMultiply<uint64_t>(countPages(*bytes), threads - 1),
        std::to_string(threads - 1) +
            " threads beside the first, OMP_STACKSIZE=" + size.str()};
  if (peaks && peaks->threadStackPages)
    return ForecastPart{"thread stacks", peaks->threadStackPages, peaks->path};
  return std::nullopt;
}

static ForecastPart findHeap(const RunPeaks *peaks) {
  if (peaks)
    return {"heap", peaks->heapPages, "the peak in " + peaks->path};
  return {"heap", std::nullopt,
          "no file tells: --report-from=FILE of a run under mpgrun --report "
          "--json=FILE"};
}

// Settings of other programs

/// "8GB", "512m", "131072": in \p unitBytes without a unit.
static std::optional<uint64_t> parseBytes(StringRef text, uint64_t unitBytes) {
  uint64_t number;
  text = text.trim("'\"");
  if (text.consumeInteger(10, number))
    return std::nullopt;
  static constexpr std::pair<StringLiteral, unsigned> units[] = {
      {"k", 10}, {"m", 20}, {"g", 30}, {"t", 40}};
  for (auto [unit, shift] : units)
    if (text.take_front(1).equals_insensitive(unit))
      unitBytes = uint64_t(1) << shift;
  return SaturatingMultiply<uint64_t>(number, unitBytes);
}

static void addJava(const JobLaunch &start, Forecast &forecast) {
  std::optional<uint64_t> bytes;
  bool usesPool = false;
  for (const JobWord &word : start.arguments) {
    StringRef text = word.text;
    usesPool |= text == "-XX:+UseLargePages";
    if (text.consume_front("-Xmx"))
      bytes = parseBytes(text, 1);
  }
  if (!bytes)
    return;
  if (usesPool)
    forecast.parts.push_back(
        {"Java's heap", countPages(*bytes), "-Xmx and -XX:+UseLargePages"});
  else
    forecast.normalBytes = SaturatingAdd(forecast.normalBytes, *bytes);
  forecast.notes.push_back(
      formatBytes(*bytes) + " of Java's heap (-Xmx) " +
      (usesPool ? "from the pool" : "are memory, none from the pool"));
}

/// "-c shared_buffers=8GB", "--shared_buffers=8GB"
static void addPostgres(const JobLaunch &start, Forecast &forecast) {
  constexpr uint64_t blockBytes = 8192;
  std::optional<uint64_t> bytes;
  bool isOff = false;
  for (const JobWord &word : start.arguments) {
    StringRef text = word.text;
    text.consume_front("-c");
    text = text.ltrim("-");
    if (text.consume_front("shared_buffers="))
      bytes = parseBytes(text, blockBytes);
    isOff |= text == "huge_pages=off";
  }
  if (!bytes)
    return;
  if (isOff) {
    forecast.normalBytes = SaturatingAdd(forecast.normalBytes, *bytes);
    return;
  }
  // Beside the buffers it has tables for them.
  forecast.parts.push_back({"shared_buffers", countPages(*bytes + *bytes / 20),
                            formatBytes(*bytes) + " and a twentieth for its "
                                                  "tables"});
  forecast.notes.push_back("PostgreSQL itself tells the exact number: postgres "
                           "-C shared_memory_size_in_huge_pages");
}

static void addSettings(const JobLaunch &start, Forecast &forecast) {
  StringRef name = StringRef(start.program.text).rsplit('/').second.empty()
                       ? StringRef(start.program.text)
                       : StringRef(start.program.text).rsplit('/').second;
  if (name == "java")
    addJava(start, forecast);
  else if (name == "postgres")
    addPostgres(start, forecast);
  const Variable *python =
      start.launch.environment.find("PYTHON_PYMALLOC_HUGEPAGES");
  if (name.starts_with("python") && python && python->value != "0")
    forecast.notes.push_back("PYTHON_PYMALLOC_HUGEPAGES takes pages of the "
                             "pool that no report of mpgrun counts: see "
                             "MPG244");
}

// A program

/// The files of the program and its libraries.
static uint64_t fileBytes(const FileReport &report) {
  uint64_t sum = 0, bytes = 0;
  if (!sys::fs::file_size(report.path, bytes))
    sum += bytes;
  if (report.closure)
    for (const ClosureEntry &entry : report.closure->libraries)
      if (!entry.path.empty() && !sys::fs::file_size(entry.path, bytes))
        sum += bytes;
  return sum;
}

static void setRanks(const JobLaunch *start, const JobScript *script,
                     Forecast &forecast) {
  std::optional<unsigned> ranks =
      start ? start->launch.ranksPerNode : std::nullopt;
  if (!ranks && script)
    ranks = script->ranksPerNode;
  forecast.areRanksKnown = ranks.has_value();
  forecast.ranks = std::max(1U, ranks.value_or(1));
}

Forecast mpg::makeForecast(const FileReport &report, const JobLaunch *start,
                           const JobScript *script, const RunPeaks *peaks) {
  Forecast forecast;
  forecast.program = start ? start->program.text : report.path;
  const Launch *launch = start ? &start->launch : nullptr;
  setRanks(start, script, forecast);
  if (start && script && start->container)
    forecast.container = &script->containers[*start->container];
  bool takesPages = !isStatic(report.kind) || report.carriesLibmpg;
  if (takesPages) {
    MovedPages data = findDataPages(report);
    forecast.dataPages = data.min;
    forecast.parts = {
        {"data and bss", data.max,
         formatBytes(report.facts.layout->writableBytes) + " in the file"},
        findStack(launch)};
    if (std::optional<ForecastPart> threads = findThreads(launch, peaks))
      forecast.parts.push_back(std::move(*threads));
    forecast.parts.push_back(findHeap(peaks));
  }
  forecast.normalBytes = peaks ? peaks->normalBytes : fileBytes(report);
  if (start)
    addSettings(*start, forecast);
  if (!takesPages)
    forecast.notes.push_back("no library can be loaded into the program: it "
                             "takes no page of the pool");
  else if (start && !start->launch.underMpgrun)
    forecast.notes.push_back("the script starts it without mpgrun: the pages "
                             "are those with it, or with libmpgrt.so.1");
  StringRef mode = launch ? launch->environment.getValue("MPG_MODE") : "";
  if (mode == "thp" || mode == "none")
    forecast.notes.push_back("MPG_MODE=" + mode.str() +
                             " takes no page of the pool; the memory is the "
                             "same");
  return forecast;
}
