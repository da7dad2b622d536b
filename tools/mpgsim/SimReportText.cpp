// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report in one screen, and the words that HTML shares with it.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <numeric>
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// Rows of a table, so that all stands on one screen.
static constexpr size_t maxRows = 8;
/// Limit of names, for the same reason.
static constexpr size_t nameColumns = 24;

uint64_t mpg::trafficBytes(const SimReport &report, const SimPageCounts &page) {
  return (page.linesRead.max + page.linesWritten.max) *
         report.machine.lineBytes;
}

/// Milliseconds of page walks: "1.2 to 1.7", "-" if there are none.
static std::string walkMilliseconds(const SimReport &report,
                                    const SimPageCounts &page) {
  SimTime time = walkTime(report, page);
  if (time.max == 0)
    return "-";
  return formatv("{0:f1} to {1:f1}", time.min * 1e3, time.max * 1e3);
}

static std::string describePlace(const SimPart &part) {
  if (part.file.empty())
    return "";
  return printable(sys::path::filename(part.file)) +
         (part.line ? ":" + std::to_string(part.line) : "");
}

static std::string loopName(const SimPart &part, size_t max) {
  std::string name = describePlace(part);
  if (name.empty())
    return "code that is not known";
  std::string function = shortLabel(shownFunction(part.name), max);
  if (part.kind != "loop")
    function += function.empty() ? "no loop" : ", no loop";
  return function.empty() ? name : name + " (" + function + ")";
}

Table mpg::pagesTable(const SimReport &report) {
  Table table({"pages"});
  std::vector<std::string> levels = getNames(report.machine.tlbs);
  append_range(levels, getNames(report.machine.caches));
  for (const std::string &level : levels)
    table.addNumber(level + " misses");
  table.addNumber("memory");
  table.addNumber("walks, ms");
  for (const SimPageCounts &page : report.all.pages) {
    std::vector<std::string> row = {formatBytes(page.pageBytes)};
    for (uint64_t misses : page.tlbMisses)
      row.push_back(shortCount(misses));
    for (const SimInterval &misses : page.cacheMisses)
      row.push_back(shortCount(misses));
    row.push_back(formatBytes(trafficBytes(report, page)));
    row.push_back(walkMilliseconds(report, page));
    table.addRow(row);
  }
  if (report.machine.bands.empty())
    return table;
  std::vector<std::string> row = {"band"};
  for (const std::string &level : levels)
    row.push_back(describeBand(report, level));
  append_values(row, describeBand(report, "memory"), "-");
  table.addRow(row);
  return table;
}

SimParts mpg::listArrays(const SimReport &report) {
  return {"array", report.arrays, arrayName};
}

SimParts mpg::listLoops(const SimReport &report) {
  return {"loop", report.loops, loopName};
}

Table mpg::partsTable(const SimReport &report, const SimParts &shown,
                      size_t rows, size_t nameLength, bool isWhole) {
  std::vector<size_t> levels(report.machine.caches.size());
  std::iota(levels.begin(), levels.end(), 0);
  if (!isWhole)
    levels = {levels.front(), levels.back()};
  bool hasBytes = isWhole && shown.title == "array";
  Table table({shown.title});
  if (hasBytes)
    table.addNumber("bytes");
  table.addNumber("accesses");
  for (size_t level : levels)
    table.addNumber(report.machine.caches[level].name + " misses");
  for (const SimPageCounts &page : report.all.pages)
    table.addNumber("walks " + formatBytes(page.pageBytes));
  for (const SimPart &part : ArrayRef(shown.parts).take_front(rows)) {
    std::vector<std::string> row = {shown.getName(part, nameLength)};
    if (hasBytes)
      row.push_back(part.bytes ? formatBytes(part.bytes) : "-");
    row.push_back(shortCount(part.counts.accesses));
    for (size_t level : levels)
      row.push_back(shortCount(part.counts.pages[0].cacheMisses[level]));
    for (const SimPageCounts &page : part.counts.pages)
      row.push_back(page.tlbMisses.empty() ? "-"
                                           : shortCount(page.tlbMisses.back()));
    table.addRow(row);
  }
  return table;
}

Table mpg::quotasTable(const SimReport &report) {
  const std::string &cache = report.machine.caches[report.divided.level].name;
  Table table({cache + " ways of sector 1"});
  for (const SimPageCounts &page : report.all.pages) {
    table.addNumber(cache + " misses, " + formatBytes(page.pageBytes));
    table.addNumber("memory, " + formatBytes(page.pageBytes));
  }
  for (const SimQuota &quota : report.quotas) {
    std::vector<std::string> row = {quota.ways ? std::to_string(quota.ways)
                                               : "not divided"};
    for (const SimPageCounts &page : quota.pages) {
      row.push_back(shortCount(page.cacheMisses[report.divided.level]));
      row.push_back(formatBytes(trafficBytes(report, page)));
    }
    table.addRow(row);
  }
  return table;
}

/// Misses of the first and last cache with the smallest pages, and of the last
/// TLB with each.
static void writeParts(raw_ostream &out, const SimReport &report,
                       const SimParts &parts) {
  partsTable(report, parts, maxRows, nameColumns, /*isWhole=*/false).write(out);
  if (parts.parts.size() > maxRows)
    out << "and " << parts.parts.size() - maxRows << " more (--json has all)\n";
}

void mpg::writeSimText(raw_ostream &out, const SimReport &report) {
  out << "mpgsim: " << printable(report.command[0]) << " "
      << describeEnding(report.ending)
      << (WIFSIGNALED(report.ending.waitStatus) ? ": results so far" : "")
      << "\n";
  out << describeCores(report) << " of " << printable(report.machine.name)
      << ", modelled, not measured: " << shortCount(report.all.accesses)
      << " loads and stores of " << formatBytes(report.accessedBytes) << "\n";
  for (const auto &[title, text] :
       {std::pair("Sample", describeSample(report)),
        {"Ranks", describeRanks(report)},
        {"Incomplete", describeMissingPart(report)},
        {"Verdict", describeVerdict(report)},
        {"Sectors", describeQuotaVerdict(report)},
        {"Placement", describePlacementVerdict(report)}})
    if (!text.empty())
      writeFilled(out, "", title + (": " + text + "."));
  out << "\n";
  if (report.all.accesses) {
    pagesTable(report).write(out);
    out << fillText("Bands: " + describeBands(report) + ".", 0) << "\n\n";
    if (!report.quotas.empty()) {
      quotasTable(report).write(out);
      out << "\n";
    }
    writeParts(out, report, listArrays(report));
    for (const SimPart &array : ArrayRef(report.arrays).take_front(maxRows))
      if (std::string use = describeSparseUse(report, array); !use.empty())
        writeFilled(out, "", arrayName(array, nameColumns) + ": " + use + ".",
                    2);
    out << "\n";
    writeParts(out, report, listLoops(report));
    out << "\n";
  }
  std::vector<std::string> gaps = findGaps(report);
  if (!gaps.empty())
    writeFilled(out, "", "Not seen: " + join(gaps, "; ") + ".", 2);
}

// Counts, arrays, loops and the recorded part of a run in words, for text and
// HTML.

/// "1234567" as "1.23 M".
std::string mpg::shortCount(uint64_t count) {
  static constexpr const char *units[] = {"", " K", " M", " G", " T", " P"};
  double value = double(count);
  unsigned unit = 0;
  for (; value >= 9999.5 && unit < 5; ++unit)
    value /= 1000;
  if (unit == 0)
    return std::to_string(count);
  const char *form = value >= 99.95 ? "{0:f0}{1}" : "{0:f1}{1}";
  return formatv(form, value, units[unit]);
}

std::string mpg::shortCount(const SimInterval &interval) {
  std::string min = shortCount(interval.min);
  std::string max = shortCount(interval.max);
  return min == max ? min : min + " to " + max;
}

std::string mpg::arrayName(const SimPart &part, size_t max) {
  std::string name = shortLabel(shownFunction(part.name), max);
  std::string place = describePlace(part) + printable(part.distinction);
  if (part.kind == "heap" || (part.kind == "stack" && !place.empty()))
    return name + (name.empty() ? "" : " ") + "(" + part.kind +
           (place.empty() ? "" : ", ") + place + ")";
  return part.kind == "global" ? name + " (global)" : name;
}

// The part of the run that a report is about

double SimSampled::maxPercent() const {
  // Two clocks of the kernel, read at two moments.
  return runNs ? std::min(100.0, 100 * double(regionNs) / double(runNs)) : 100;
}

static std::string missingRegion(const SimSampled &sampled) {
  if (sampled.what.by == MPG_SIM_CALLS)
    return "the program did not call mpg_sim_begin, so nothing was recorded. "
           "Call it in front of what is to be modelled, and mpg_sim_end after "
           "it (mpg/mpg.h)";
  if (sampled.what.by == MPG_SIM_TIME)
    return formatv("the program ended before {0} s were over, so nothing was "
                   "recorded. Begin earlier",
                   sampled.what.delay);
  std::string name = printable(sampled.what.function);
  if (sampled.functions)
    return name + " was not called, so nothing was recorded. Calls that the "
                  "compiler has inlined are none: keep it "
                  "from that (noinline)";
  return "no function " + name +
         " was compiled with --mpg-sim, so nothing was recorded. One that is "
         "inlined everywhere is not there any more: keep it "
         "from that (noinline)";
}

static std::string getRegion(const SimSampled &sampled) {
  if (sampled.what.by == MPG_SIM_TIME)
    return formatv("{0} s from {1} s after the start on", sampled.what.seconds,
                   sampled.what.delay);
  std::string times = ", " + countWord(sampled.regions, "time");
  if (sampled.what.by == MPG_SIM_CALLS)
    return "from mpg_sim_begin to mpg_sim_end" + times;
  std::string text = printable(sampled.what.function) + times;
  if (sampled.functions > 1)
    text += formatv(" ({0} functions have that name)", sampled.functions);
  return text;
}

/// By what caches and TLBs were filled at the begin of a region.
static std::string describeWarmUp(const SimSampled &sampled) {
  if (sampled.what.isCold)
    return "caches began as the region before left them (--cold)";
  return "caches were filled by the last " +
         shortCount(sampled.warmUpAccesses) + " accesses before " +
         (sampled.regions == 1 ? "it" : "them");
}

std::string mpg::describeSample(const SimReport &report) {
  const SimSampled &sampled = report.sampled;
  if (sampled.what.by == MPG_SIM_ALL)
    return "";
  std::string lone = sampled.loneEnds
                         ? "; " + countWord(sampled.loneEnds, "mpg_sim_end") +
                               " without a mpg_sim_begin in front"
                         : "";
  if (!sampled.regions)
    return missingRegion(sampled) + lone;
  return formatv("{0}; {1}; at most {2:f1} % of the processor time of the run, "
                 "as recording makes it longer{3}{4}",
                 getRegion(sampled), describeWarmUp(sampled),
                 sampled.maxPercent(),
                 sampled.isOpen ? "; the last one was not over when the "
                                  "program ended"
                                : "",
                 lone);
}
