// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as JSON, schema mpgsim-1 (docs/schema/mpgsim-1.schema.json), and
// back, as far as a merged report needs it.

#include "SimReport.h"
#include "Support/Format.h"
#include "Support/JsonMap.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// More than any run has: a file that claims them is not one of ours.
static constexpr size_t maxParts = 1000000, maxPages = 64, maxRanks = 1000000;

static void mapCount(JsonWriter &json, StringRef key, uint64_t count) {
  json.field(key, count);
}
static void mapCount(JsonReader &json, StringRef key, uint64_t &count) {
  json.field(key, count);
}

/// [min, max] of the maps.
static void mapCount(JsonWriter &json, StringRef key,
                     const SimInterval &interval) {
  json.field(key, JsonArray{interval.min, interval.max});
}
static void mapCount(JsonReader &json, StringRef key, SimInterval &interval) {
  std::vector<uint64_t> bounds = json.source().counts(key);
  if (bounds.size() != 2)
    return json.source().fail(key, "not two integers");
  interval = {bounds[0], bounds[1]};
}

/// As waitpid gives it.
static void mapStatus(JsonWriter &json, int status) {
  if (WIFSIGNALED(status))
    json.field("signal", WTERMSIG(status));
  else
    json.field("status", WEXITSTATUS(status));
}
static void mapStatus(JsonReader &json, int &status) {
  const JsonFields &fields = json.source();
  status = fields.has("signal") ? int(fields.count("signal") & 0x7f)
                                : int((fields.count("status") & 0xff) << 8);
}

template <typename Json, typename Page>
static void mapPlacements(Json &json, unsigned groups, Page &page) {
  bool isThere = groups > 1 && !page.placements.empty();
  json.optionalObject("localLines", isThere, [&](Json &json) {
    static constexpr const char *keys[] = {"firstTouch", "prepage",
                                           "interleave"};
    if constexpr (Json::reads)
      page.placements.assign(std::size(keys), {0, json.source().count("all")});
    else
      json.field("all", page.placements.front().moved);
    for (size_t at = 0; at < page.placements.size(); ++at)
      json.field(keys[at], page.placements[at].local);
  });
}

/// The misses of each level under its name.
template <typename Json, typename Level, typename Misses>
static void mapLevels(Json &json, StringRef key,
                      const std::vector<Level> &levels, Misses &misses) {
  if constexpr (Json::reads)
    misses.resize(levels.size());
  json.object(key, [&](Json &json) {
    for (size_t level = 0; level < misses.size(); ++level)
      mapCount(json, validUtf8(levels[level].name), misses[level]);
  });
}

template <typename Json, typename Pages>
static void mapPages(Json &json, const SimReport &report, Pages &pages) {
  const sim::Machine &machine = report.machine;
  json.list("pages", maxPages, pages, [&](Json &json, auto &page) {
    json.field("pageBytes", page.pageBytes);
    mapLevels(json, "tlbMisses", machine.tlbs, page.tlbMisses);
    mapLevels(json, "cacheMisses", machine.caches, page.cacheMisses);
    mapLevels(json, "demandMisses", machine.caches, page.demandMisses);
    mapCount(json, "linesRead", page.linesRead);
    mapCount(json, "linesWritten", page.linesWritten);
    mapPlacements(json, report.groups, page);
    if constexpr (Json::reads)
      if (!is_contained(machine.pageBytes, page.pageBytes))
        json.source().fail("pageBytes", "the machine has no such pages");
  });
  if constexpr (Json::reads)
    if (!isAlike(pages, report.all.pages))
      json.source().fail("pages", "not the sizes of the whole report");
}

template <typename Json, typename Report>
static void mapQuotas(Json &json, Report &report) {
  json.optionalObject("sectors", !report.quotas.empty(), [&](Json &json) {
    if constexpr (Json::reads)
      report.divided = getQuotas(report.machine);
    json.derived("cache", [&] {
      return report.machine.caches[report.divided.level].name;
    });
    json.derived("ways", [&] { return report.divided.allWays; });
    json.field("stream", report.stream);
    json.derived("verdict", [&] { return describeQuotaVerdict(report); });
    json.list("quotas", maxPages, report.quotas, [&](Json &json, auto &quota) {
      json.field("sector1Ways", quota.ways);
      mapPages(json, report, quota.pages);
    });
  });
}

/// The blank in front of a distinction is not in the file.
static void mapDistinction(JsonWriter &json, StringRef distinction) {
  json.optional("distinction", distinction.ltrim().str());
}
static void mapDistinction(JsonReader &json, std::string &distinction) {
  json.optional("distinction", distinction);
  if (json.source().has("distinction"))
    distinction.insert(0, " ");
}

template <typename Json, typename Parts>
static void mapParts(Json &json, StringRef key, const SimReport &report,
                     Parts &parts) {
  json.list(key, maxParts, parts, [&](Json &json, auto &part) {
    json.field("kind", part.kind);
    json.field("name", part.name);
    json.optional("file", part.file);
    json.optional("line", part.line);
    mapDistinction(json, part.distinction);
    json.optional("bytes", part.bytes);
    json.optionalObject("pagesUsed", part.use.of2M, [&](Json &json) {
      json.field("4KiB", part.use.of4K);
      json.field("64KiB", part.use.of64K);
      json.field("2MiB", part.use.of2M);
    });
    json.field("accesses", part.counts.accesses);
    mapPages(json, report, part.counts.pages);
  });
}

/// \p seconds in whole milliseconds.
static void mapMilliseconds(JsonWriter &json, StringRef key, double seconds) {
  json.field(key, int64_t(seconds * 1e3 + 0.5));
}
static void mapMilliseconds(JsonReader &json, StringRef key, double &seconds) {
  seconds = double(json.source().count(key)) / 1e3;
}

template <typename Json, typename By>
static void mapSampleKind(Json &json, By &by) {
  static constexpr StringLiteral names[] = {"all", "calls", "function", "time"};
  if constexpr (Json::reads) {
    const auto *name = find(names, json.source().text("by"));
    if (name == std::begin(names) || name == std::end(names))
      return json.source().fail("by", "neither calls, function nor time");
    by = mpg_sim_sample(name - names);
  } else {
    json.field("by", names[by]);
  }
}

template <typename Json, typename Sampled>
static void mapSample(Json &json, Sampled &sampled) {
  auto &what = sampled.what;
  json.optionalObject("sample", what.by != MPG_SIM_ALL, [&](Json &json) {
    mapSampleKind(json, what.by);
    if (what.by == MPG_SIM_FUNCTION) {
      json.field("function", what.function);
      json.field("functions", sampled.functions);
    }
    if (what.by == MPG_SIM_TIME) {
      mapMilliseconds(json, "spanMs", what.seconds);
      mapMilliseconds(json, "warmUpMs", what.delay);
    }
    json.field("regions", sampled.regions);
    json.field("open", sampled.isOpen);
    json.field("loneEnds", sampled.loneEnds);
    json.field("regionNs", sampled.regionNs);
    json.field("runNs", sampled.runNs);
    json.field("cold", what.isCold);
    json.field("warmUpAccesses", sampled.warmUpAccesses);
  });
}

template <typename Json, typename Report>
static void mapNotSeen(Json &json, Report &report) {
  json.object("notSeen", [&](Json &json) {
    auto &ending = report.ending;
    json.field("threads", ending.otherThreads);
    json.field("threadRecords", ending.lostAccesses);
    json.field("processes", ending.otherProcesses);
    json.field("threadWaits", ending.skips);
    json.field("damagedRecords", report.damaged);
    json.list("calls", maxParts, report.notSeen, [](Json &json, auto &called) {
      json.field("function", called.first);
      json.field("calls", called.second);
    });
  });
}

static int64_t inNs(double seconds) { return int64_t(seconds * 1e9 + 0.5); }

static JsonArray gainsItem(const SimReport &report) {
  return jsonList(findGains(report), [&](const SimGain &gain) {
    return JsonObject{
        {"basePageBytes", gain.small->pageBytes},
        {"pageBytes", gain.large->pageBytes},
        {"decidedBy", gainKind(gain)},
        {"savedNs", JsonArray{inNs(gain.saved.min), inNs(gain.saved.max)}},
        {"trafficNs", inNs(trafficTime(report, *gain.small))}};
  });
}

static JsonObject bandItem(const sim::CounterBand &band) {
  return {{"counter", band.counter},
          {"minPercent", int64_t(100 * band.min + 0.5)},
          {"maxPercent", int64_t(100 * band.max + 0.5)}};
}

template <typename Json, typename Report>
static void mapReport(Json &json, Report &report) {
  json.derived("schema", [] { return "mpgsim-1"; });
  json.derived("version", [] { return MPG_VERSION; });
  json.field("build", report.build);
  json.derived("machine", [&] { return report.machine.name; });
  json.derived("modelled", [] { return true; });
  json.derived("lineBytes", [&] { return report.machine.lineBytes; });
  json.field("maps", report.maps);
  json.derived("bands",
               [&] { return jsonList(report.machine.bands, bandItem); });
  json.field("cores", report.cores);
  json.field("coreGroups", report.groups);
  json.field("command", report.command);
  mapStatus(json, report.ending.waitStatus);
  json.derived("verdict", [&] { return describeVerdict(report); });
  json.derived("placementVerdict",
               [&] { return textOrAbsent(describePlacementVerdict(report)); });
  json.derived("complete", [&] { return describeMissingPart(report).empty(); });
  json.optionalList("ranks", maxRanks, report.ranks,
                    [](Json &json, auto &rank) {
                      json.optional("rank", rank.number);
                      json.field("accesses", rank.accesses);
                      mapStatus(json, rank.waitStatus);
                    });
  mapSample(json, report.sampled);
  json.derived("gains", [&] { return gainsItem(report); });
  json.list("busiest", maxPages, report.busiest, [](Json &json, auto &max) {
    json.field("walks", max.walks);
    json.field("linesRead", max.linesRead);
    json.field("linesWritten", max.linesWritten);
  });
  json.field("accessedBytes", report.accessedBytes);
  json.field("accesses", report.all.accesses);
  mapPages(json, report, report.all.pages);
  mapQuotas(json, report);
  mapParts(json, "arrays", report, report.arrays);
  mapParts(json, "loops", report, report.loops);
  mapNotSeen(json, report);
}

void mpg::writeSimJson(raw_ostream &out, const SimReport &report) {
  JsonWriter json;
  mapReport(json, report);
  writeJson(out, json.finish(), /*indent=*/2);
  out << "\n";
}

/// Whether the file is one that this program and machine can read on.
static std::string refusal(const JsonFields &fields,
                           const sim::Machine &machine) {
  if (!fields.has("schema") || fields.text("schema") != "mpgsim-1")
    return "is not a file of mpgsim --json";
  std::string version = fields.has("version") ? fields.text("version") : "?";
  if (version != MPG_VERSION)
    return "was written by version " + printable(version) +
           " of mpgsim, this is " MPG_VERSION "; run it again";
  std::string name = fields.text("machine");
  if (name != validUtf8(machine.name))
    return "models " + printable(name) + ", and not " +
           printable(machine.name) +
           "; merge with the --machine= that the ranks had";
  return "";
}

std::string mpg::readSimReport(StringRef text, const sim::Machine &machine,
                               SimReport &report) {
  Expected<json::Value> value = parseJson(text, maxSimBytes);
  if (!value)
    return toString(value.takeError());
  std::string error;
  JsonFields fields(*value, "", error);
  if (std::string why = refusal(fields, machine); !why.empty())
    return why;
  report.machine = machine;
  JsonReader json(fields);
  mapReport(json, report);
  if (!fields.has("ranks"))
    report.ranks = {{"", report.all.accesses, report.ending.waitStatus}};
  // The sizes of --pages=, which the rest of a report uses.
  report.machine.pageBytes.clear();
  for (const SimPageCounts &page : report.all.pages)
    report.machine.pageBytes.push_back(page.pageBytes);
  if (error.empty() && (report.command.empty() || report.all.pages.empty() ||
                        report.busiest.size() != report.all.pages.size()))
    error = "command, pages or busiest have not what a report needs";
  return error;
}
