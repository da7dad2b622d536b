// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as JSON, schema mpgsim-1 (docs/schema/mpgsim-1.schema.json).

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/Support/JSON.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// [least, most] of the maps.
static void writeInterval(json::OStream &json, StringRef key,
                          const SimInterval &interval) {
  json.attributeArray(key, [&] {
    json.value(interval.min);
    json.value(interval.max);
  });
}

static void writePlacements(json::OStream &json, const SimReport &report,
                            const SimPageCounts &page) {
  if (report.groups < 2 || page.placements.empty())
    return;
  json.attributeObject("localLines", [&] {
    static constexpr const char *keys[] = {"firstTouch", "prepage",
                                           "interleave"};
    json.attribute("all", page.placements.front().moved);
    for (size_t at = 0; at < page.placements.size(); ++at)
      json.attribute(keys[at], page.placements[at].local);
  });
}

static void writePages(json::OStream &json, const SimReport &report,
                       const std::vector<SimPageCounts> &pages) {
  const sim::Machine &machine = report.machine;
  json.attributeArray("pages", [&] {
    for (const SimPageCounts &page : pages)
      json.object([&] {
        json.attribute("pageBytes", page.pageBytes);
        json.attributeObject("tlbMisses", [&] {
          for (size_t level = 0; level < page.tlbMisses.size(); ++level)
            json.attribute(validUtf8(machine.tlbs[level].name),
                           page.tlbMisses[level]);
        });
        json.attributeObject("cacheMisses", [&] {
          for (size_t level = 0; level < page.cacheMisses.size(); ++level)
            writeInterval(json, validUtf8(machine.caches[level].name),
                          page.cacheMisses[level]);
        });
        writeInterval(json, "linesRead", page.linesRead);
        writeInterval(json, "linesWritten", page.linesWritten);
        writePlacements(json, report, page);
      });
  });
}

static void writeCounts(json::OStream &json, const SimReport &report,
                        const SimCounts &counts) {
  json.attribute("accesses", counts.accesses);
  writePages(json, report, counts.pages);
}

static void writeQuotas(json::OStream &json, const SimReport &report) {
  json.attributeObject("sectors", [&] {
    json.attribute("cache",
                   validUtf8(report.machine.caches[report.divided.level].name));
    json.attribute("ways", report.divided.allWays);
    json.attributeArray("stream", [&] {
      for (const std::string &array : report.stream)
        json.value(validUtf8(array));
    });
    json.attribute("verdict", describeQuotaVerdict(report));
    json.attributeArray("quotas", [&] {
      for (const SimQuota &quota : report.quotas)
        json.object([&] {
          json.attribute("sector1Ways", quota.ways);
          writePages(json, report, quota.pages);
        });
    });
  });
}

static void writeParts(json::OStream &json, const SimReport &report,
                       StringRef key, const std::vector<SimPart> &parts) {
  json.attributeArray(key, [&] {
    for (const SimPart &part : parts)
      json.object([&] {
        json.attribute("kind", part.kind);
        json.attribute("name", validUtf8(part.name));
        if (!part.file.empty())
          json.attribute("file", validUtf8(part.file));
        if (part.line)
          json.attribute("line", part.line);
        if (part.bytes)
          json.attribute("bytes", part.bytes);
        if (part.use.of2M)
          json.attributeObject("pagesUsed", [&] {
            json.attribute("4KiB", part.use.of4K);
            json.attribute("64KiB", part.use.of64K);
            json.attribute("2MiB", part.use.of2M);
          });
        writeCounts(json, report, part.counts);
      });
  });
}

static void writeStatus(json::OStream &json, int status) {
  if (WIFSIGNALED(status))
    json.attribute("signal", WTERMSIG(status));
  else
    json.attribute("status", WEXITSTATUS(status));
}

static void writeRanks(json::OStream &json, const SimReport &report) {
  json.attributeArray("ranks", [&] {
    for (const SimRank &rank : report.ranks)
      json.object([&] {
        if (!rank.number.empty())
          json.attribute("rank", rank.number);
        json.attribute("accesses", rank.accesses);
        writeStatus(json, rank.waitStatus);
      });
  });
}

static void writeBusiest(json::OStream &json, const SimReport &report) {
  json.attributeArray("busiest", [&] {
    for (const SimBusiest &max : report.busiest)
      json.object([&] {
        json.attribute("walks", max.walks);
        json.attribute("linesRead", max.linesRead);
        json.attribute("linesWritten", max.linesWritten);
      });
  });
}

static void writeSample(json::OStream &json, const SimSampled &sampled) {
  static constexpr const char *names[] = {"all", "calls", "function", "time"};
  json.attributeObject("sample", [&] {
    json.attribute("by", names[sampled.what.by]);
    if (sampled.what.by == MPG_SIM_FUNCTION) {
      json.attribute("function", validUtf8(sampled.what.function));
      json.attribute("functions", sampled.functions);
    }
    if (sampled.what.by == MPG_SIM_TIME) {
      json.attribute("spanMs", int64_t(sampled.what.seconds * 1e3 + 0.5));
      json.attribute("warmUpMs", int64_t(sampled.what.delay * 1e3 + 0.5));
    }
    json.attribute("regions", sampled.regions);
    json.attribute("open", sampled.isOpen);
    json.attribute("loneEnds", sampled.loneEnds);
    json.attribute("regionNs", sampled.regionNs);
    json.attribute("runNs", sampled.runNs);
    json.attribute("cold", sampled.what.isCold);
    json.attribute("warmUpAccesses", sampled.warmUpAccesses);
  });
}

static void writeNotSeen(json::OStream &json, const SimReport &report) {
  json.attributeObject("notSeen", [&] {
    json.attribute("threads", report.ending.otherThreads);
    json.attribute("threadRecords", report.ending.lostAccesses);
    json.attribute("processes", report.ending.otherProcesses);
    json.attribute("threadWaits", report.ending.skips);
    json.attribute("damagedRecords", report.damaged);
    json.attributeArray("calls", [&] {
      for (const auto &called : report.notSeen)
        json.object([&] {
          json.attribute("function", validUtf8(called.first));
          json.attribute("calls", called.second);
        });
    });
  });
}

static int64_t inNs(double seconds) { return int64_t(seconds * 1e9 + 0.5); }

static void writeGains(json::OStream &json, const SimReport &report) {
  json.attributeArray("gains", [&] {
    for (const SimGain &gain : findGains(report))
      json.object([&] {
        json.attribute("basePageBytes", gain.small->pageBytes);
        json.attribute("pageBytes", gain.large->pageBytes);
        json.attribute("decidedBy", gainKind(gain));
        json.attributeArray("savedNs", [&] {
          json.value(inNs(gain.saved.min));
          json.value(inNs(gain.saved.max));
        });
        json.attribute("trafficNs", inNs(trafficTime(report, *gain.small)));
      });
  });
}

void mpg::writeSimJson(raw_ostream &out, const SimReport &report) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attribute("schema", "mpgsim-1");
    json.attribute("version", MPG_VERSION);
    json.attribute("build", report.build);
    json.attribute("machine", validUtf8(report.machine.name));
    json.attribute("modelled", true);
    json.attribute("lineBytes", report.machine.lineBytes);
    json.attribute("maps", report.maps);
    json.attributeArray("bands", [&] {
      for (const sim::CounterBand &band : report.machine.bands)
        json.object([&] {
          json.attribute("counter", validUtf8(band.counter));
          json.attribute("minPercent", int64_t(100 * band.min + 0.5));
          json.attribute("maxPercent", int64_t(100 * band.max + 0.5));
        });
    });
    json.attribute("cores", report.cores);
    json.attribute("coreGroups", report.groups);
    json.attributeArray("command", [&] {
      for (const std::string &word : report.command)
        json.value(validUtf8(word));
    });
    writeStatus(json, report.ending.waitStatus);
    json.attribute("verdict", describeVerdict(report));
    if (std::string places = describePlacementVerdict(report); !places.empty())
      json.attribute("placementVerdict", places);
    json.attribute("complete", describeMissingPart(report).empty());
    if (!report.ranks.empty())
      writeRanks(json, report);
    if (report.sampled.what.by != MPG_SIM_ALL)
      writeSample(json, report.sampled);
    writeGains(json, report);
    writeBusiest(json, report);
    json.attribute("accessedBytes", report.accessedBytes);
    writeCounts(json, report, report.all);
    if (!report.quotas.empty())
      writeQuotas(json, report);
    writeParts(json, report, "arrays", report.arrays);
    writeParts(json, report, "loops", report.loops);
    writeNotSeen(json, report);
  });
  out << "\n";
}
