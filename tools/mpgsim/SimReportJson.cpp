// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as JSON, schema mpgsim-1 (docs/schema/mpgsim-1.schema.json).

#include "SimReport.h"
#include "Support/JsonItem.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// [least, most] of the maps.
static JsonArray intervalItem(const SimInterval &interval) {
  return {interval.min, interval.max};
}

static JsonItem placementsItem(const SimReport &report,
                               const SimPageCounts &page) {
  if (report.groups < 2 || page.placements.empty())
    return JsonItem::absent();
  static constexpr const char *keys[] = {"firstTouch", "prepage", "interleave"};
  JsonObject item = {{"all", page.placements.front().moved}};
  for (size_t at = 0; at < page.placements.size(); ++at)
    item.push_back({keys[at], page.placements[at].local});
  return item;
}

static JsonArray pagesItem(const SimReport &report,
                           const std::vector<SimPageCounts> &pages) {
  const sim::Machine &machine = report.machine;
  return jsonList(pages, [&](const SimPageCounts &page) {
    JsonObject tlbs, caches, demanded;
    for (size_t level = 0; level < page.tlbMisses.size(); ++level)
      tlbs.push_back({machine.tlbs[level].name, page.tlbMisses[level]});
    for (size_t level = 0; level < page.cacheMisses.size(); ++level)
      caches.push_back(
          {machine.caches[level].name, intervalItem(page.cacheMisses[level])});
    for (size_t level = 0; level < page.demandMisses.size(); ++level)
      demanded.push_back(
          {machine.caches[level].name, intervalItem(page.demandMisses[level])});
    return JsonObject{{"pageBytes", page.pageBytes},
                      {"tlbMisses", tlbs},
                      {"cacheMisses", caches},
                      {"demandMisses", demanded},
                      {"linesRead", intervalItem(page.linesRead)},
                      {"linesWritten", intervalItem(page.linesWritten)},
                      {"localLines", placementsItem(report, page)}};
  });
}

static JsonItem quotasItem(const SimReport &report) {
  if (report.quotas.empty())
    return JsonItem::absent();
  auto quota = [&](const SimQuota &one) {
    return JsonObject{{"sector1Ways", one.ways},
                      {"pages", pagesItem(report, one.pages)}};
  };
  return JsonObject{{"cache", report.machine.caches[report.divided.level].name},
                    {"ways", report.divided.allWays},
                    {"stream", report.stream},
                    {"verdict", describeQuotaVerdict(report)},
                    {"quotas", jsonList(report.quotas, quota)}};
}

static JsonArray partsItem(const SimReport &report,
                           const std::vector<SimPart> &parts) {
  return jsonList(parts, [&](const SimPart &part) {
    JsonItem use = JsonItem::absent();
    if (part.use.of2M)
      use = JsonObject{{"4KiB", part.use.of4K},
                       {"64KiB", part.use.of64K},
                       {"2MiB", part.use.of2M}};
    std::string distinction = StringRef(part.distinction).ltrim().str();
    return JsonObject{{"kind", part.kind},
                      {"name", part.name},
                      {"file", textOrAbsent(part.file)},
                      {"line", part.line ? part.line : JsonItem::absent()},
                      {"distinction", textOrAbsent(distinction)},
                      {"bytes", part.bytes ? part.bytes : JsonItem::absent()},
                      {"pagesUsed", use},
                      {"accesses", part.counts.accesses},
                      {"pages", pagesItem(report, part.counts.pages)}};
  });
}

static JsonField statusField(int status) {
  if (WIFSIGNALED(status))
    return {"signal", WTERMSIG(status)};
  return {"status", WEXITSTATUS(status)};
}

static JsonItem ranksItem(const SimReport &report) {
  if (report.ranks.empty())
    return JsonItem::absent();
  return jsonList(report.ranks, [](const SimRank &rank) {
    return JsonObject{{"rank", textOrAbsent(rank.number)},
                      {"accesses", rank.accesses},
                      statusField(rank.waitStatus)};
  });
}

static JsonObject busiestItem(const SimBusiest &max) {
  return {{"walks", max.walks},
          {"linesRead", max.linesRead},
          {"linesWritten", max.linesWritten}};
}

static JsonItem sampleItem(const SimSampled &sampled) {
  static constexpr const char *names[] = {"all", "calls", "function", "time"};
  if (sampled.what.by == MPG_SIM_ALL)
    return JsonItem::absent();
  JsonItem function = JsonItem::absent(), functions = function;
  JsonItem span = function, warmUp = function;
  if (sampled.what.by == MPG_SIM_FUNCTION) {
    function = sampled.what.function;
    functions = sampled.functions;
  }
  if (sampled.what.by == MPG_SIM_TIME) {
    span = int64_t(sampled.what.seconds * 1e3 + 0.5);
    warmUp = int64_t(sampled.what.delay * 1e3 + 0.5);
  }
  return JsonObject{{"by", names[sampled.what.by]},
                    {"function", function},
                    {"functions", functions},
                    {"spanMs", span},
                    {"warmUpMs", warmUp},
                    {"regions", sampled.regions},
                    {"open", sampled.isOpen},
                    {"loneEnds", sampled.loneEnds},
                    {"regionNs", sampled.regionNs},
                    {"runNs", sampled.runNs},
                    {"cold", sampled.what.isCold},
                    {"warmUpAccesses", sampled.warmUpAccesses}};
}

static JsonObject notSeenItem(const SimReport &report) {
  auto call = [](auto &called) {
    return JsonObject{{"function", called.first}, {"calls", called.second}};
  };
  return {{"threads", report.ending.otherThreads},
          {"threadRecords", report.ending.lostAccesses},
          {"processes", report.ending.otherProcesses},
          {"threadWaits", report.ending.skips},
          {"damagedRecords", report.damaged},
          {"calls", jsonList(report.notSeen, call)}};
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

void mpg::writeSimJson(raw_ostream &out, const SimReport &report) {
  writeJson(out,
            JsonObject{{"schema", "mpgsim-1"},
                       {"version", MPG_VERSION},
                       {"build", report.build},
                       {"machine", report.machine.name},
                       {"modelled", true},
                       {"lineBytes", report.machine.lineBytes},
                       {"maps", report.maps},
                       {"bands", jsonList(report.machine.bands, bandItem)},
                       {"cores", report.cores},
                       {"coreGroups", report.groups},
                       {"command", report.command},
                       statusField(report.ending.waitStatus),
                       {"verdict", describeVerdict(report)},
                       {"placementVerdict",
                        textOrAbsent(describePlacementVerdict(report))},
                       {"complete", describeMissingPart(report).empty()},
                       {"ranks", ranksItem(report)},
                       {"sample", sampleItem(report.sampled)},
                       {"gains", gainsItem(report)},
                       {"busiest", jsonList(report.busiest, busiestItem)},
                       {"accessedBytes", report.accessedBytes},
                       {"accesses", report.all.accesses},
                       {"pages", pagesItem(report, report.all.pages)},
                       {"sectors", quotasItem(report)},
                       {"arrays", partsItem(report, report.arrays)},
                       {"loops", partsItem(report, report.loops)},
                       {"notSeen", notSeenItem(report)}},
            /*indent=*/2);
  out << "\n";
}
