// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads schema mpgsim-1 again, as far as a merged report needs it.

#include "SimReport.h"
#include "Support/Format.h"
#include "Support/JsonFields.h"
#include <algorithm>

using namespace llvm;
using namespace mpg;

/// More than any run has: a file that claims them is not one of ours.
static constexpr size_t mostParts = 1000000, mostPages = 64,
                        mostRanks = 1000000;

static SimInterval readInterval(const JsonFields &fields, StringRef key) {
  std::vector<uint64_t> bounds = fields.counts(key);
  if (bounds.size() == 2)
    return {bounds[0], bounds[1]};
  fields.fail(key, "not two integers");
  return {};
}

static SimPageCounts readPage(const JsonFields &fields,
                              const sim::Machine &machine) {
  SimPageCounts page;
  page.pageBytes = fields.count("pageBytes");
  JsonFields tlbs = fields.object("tlbMisses");
  for (const sim::TlbLevel &level : machine.tlbs)
    page.tlbMisses.push_back(tlbs.count(validUtf8(level.name)));
  JsonFields caches = fields.object("cacheMisses");
  for (const sim::CacheLevel &level : machine.caches)
    page.cacheMisses.push_back(readInterval(caches, validUtf8(level.name)));
  page.linesRead = readInterval(fields, "linesRead");
  page.linesWritten = readInterval(fields, "linesWritten");
  if (!fields.has("localLines"))
    return page;
  JsonFields lines = fields.object("localLines");
  for (const char *key : {"firstTouch", "prepage", "interleave"})
    page.placements.push_back({lines.count(key), lines.count("all")});
  return page;
}

static std::vector<SimPageCounts> readPages(const JsonFields &fields,
                                            const sim::Machine &machine) {
  std::vector<SimPageCounts> pages;
  fields.each("pages", mostPages, [&](const JsonFields &entry) {
    pages.push_back(readPage(entry, machine));
    if (!is_contained(machine.pageBytes, pages.back().pageBytes))
      entry.fail("pageBytes", "the machine has no such pages");
  });
  return pages;
}

static std::vector<SimPart> readParts(const JsonFields &fields, StringRef key,
                                      const sim::Machine &machine) {
  std::vector<SimPart> parts;
  fields.each(key, mostParts, [&](const JsonFields &entry) {
    SimPart part;
    part.kind = entry.text("kind");
    part.name = entry.text("name");
    if (entry.has("file"))
      part.file = entry.text("file");
    if (entry.has("line"))
      part.line = unsigned(entry.count("line"));
    if (entry.has("bytes"))
      part.bytes = entry.count("bytes");
    if (entry.has("pagesUsed")) {
      JsonFields use = entry.object("pagesUsed");
      part.use = {use.count("4KiB"), use.count("64KiB"), use.count("2MiB")};
    }
    part.counts = {entry.count("accesses"), readPages(entry, machine)};
    parts.push_back(std::move(part));
  });
  return parts;
}

/// As waitpid gives it.
static int readStatus(const JsonFields &fields) {
  return fields.has("signal") ? int(fields.count("signal") & 0x7f)
                              : int((fields.count("status") & 0xff) << 8);
}

static void readRanks(const JsonFields &fields, SimReport &report) {
  if (fields.has("ranks"))
    fields.each("ranks", mostRanks, [&](const JsonFields &entry) {
      report.ranks.push_back(
          {entry.has("rank") ? entry.text("rank") : std::string(),
           entry.count("accesses"), readStatus(entry)});
    });
  else
    report.ranks = {{"", report.all.accesses, report.ending.waitStatus}};
}

static void readSample(const JsonFields &fields, SimSampled &sampled) {
  if (!fields.has("sample"))
    return;
  JsonFields sample = fields.object("sample");
  std::string by = sample.text("by");
  if (by != "calls" && by != "function" && by != "time")
    sample.fail("by", "neither calls, function nor time");
  sampled.what.by = by == "calls"      ? MPG_SIM_CALLS
                    : by == "function" ? MPG_SIM_FUNCTION
                                       : MPG_SIM_TIME;
  if (sampled.what.by == MPG_SIM_FUNCTION) {
    sampled.what.function = sample.text("function");
    sampled.functions = unsigned(sample.count("functions"));
  }
  if (sampled.what.by == MPG_SIM_TIME) {
    sampled.what.seconds = double(sample.count("spanMs")) / 1e3;
    sampled.what.warmUp = double(sample.count("warmUpMs")) / 1e3;
  }
  sampled.regions = unsigned(sample.count("regions"));
  sampled.isOpen = sample.boolean("open");
  sampled.loneEnds = unsigned(sample.count("loneEnds"));
  sampled.regionNs = sample.count("regionNs");
  sampled.runNs = sample.count("runNs");
}

static void readNotSeen(const JsonFields &fields, SimReport &report) {
  JsonFields notSeen = fields.object("notSeen");
  report.ending.otherThreads = unsigned(notSeen.count("threads"));
  report.ending.otherProcesses = unsigned(notSeen.count("processes"));
  report.ending.lostRecords = notSeen.count("threadRecords");
  report.ending.skips = unsigned(notSeen.count("threadWaits"));
  report.damaged = notSeen.count("damagedRecords");
  notSeen.each("calls", mostParts, [&](const JsonFields &entry) {
    report.notSeen.push_back({entry.text("function"), entry.count("calls")});
  });
}

static void readQuotas(const JsonFields &fields, SimReport &report) {
  if (!fields.has("sectors"))
    return;
  JsonFields sectors = fields.object("sectors");
  report.divided = quotasOf(report.machine);
  report.stream = sectors.texts("stream");
  sectors.each("quotas", mostPages, [&](const JsonFields &entry) {
    report.quotas.push_back({unsigned(entry.count("sector1Ways")),
                             readPages(entry, report.machine)});
  });
}

/// Whether the file is one that this program and machine can read on.
static std::string refusal(const JsonFields &fields,
                           const sim::Machine &machine) {
  if (!fields.has("schema") || fields.text("schema") != "mpgsim-1")
    return "is no file of mpgsim --json";
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
  Expected<json::Value> value = parseJson(text, mostSimBytes);
  if (!value)
    return toString(value.takeError());
  std::string error;
  JsonFields fields(*value, "", error);
  if (std::string why = refusal(fields, machine); !why.empty())
    return why;
  report.machine = machine;
  report.build = fields.text("build");
  report.command = fields.texts("command");
  report.maps = unsigned(fields.count("maps"));
  report.cores = unsigned(fields.count("cores"));
  report.groups = unsigned(fields.count("coreGroups"));
  report.ending.waitStatus = readStatus(fields);
  report.accessedBytes = fields.count("accessedBytes");
  report.all = {fields.count("accesses"), readPages(fields, machine)};
  fields.each("busiest", mostPages, [&](const JsonFields &entry) {
    report.busiest.push_back({entry.count("walks"), entry.count("linesRead"),
                              entry.count("linesWritten")});
  });
  report.arrays = readParts(fields, "arrays", machine);
  report.loops = readParts(fields, "loops", machine);
  readNotSeen(fields, report);
  readRanks(fields, report);
  readSample(fields, report.sampled);
  readQuotas(fields, report);
  report.machine.pageBytes.clear();
  for (const SimPageCounts &page : report.all.pages)
    report.machine.pageBytes.push_back(page.pageBytes);
  if (error.empty() && (report.command.empty() || report.all.pages.empty() ||
                        report.busiest.size() != report.all.pages.size()))
    error = "command, pages or busiest have not what a report needs";
  return error;
}
