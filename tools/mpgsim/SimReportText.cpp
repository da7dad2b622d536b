// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report in one screen, and the words that HTML shares with it.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// Rows of a table, so that all stands on one screen.
static constexpr size_t maxRows = 8;
/// Of names, for the same reason.
static constexpr size_t nameColumns = 24;

using Table = std::vector<std::vector<std::string>>;

/// The first column to the left, the others to the right.
static void writeTable(raw_ostream &out, const Table &table) {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : table)
    for (size_t at = 0; at < row.size(); ++at) {
      if (at == widths.size())
        widths.push_back(0);
      widths[at] = std::max(widths[at], row[at].size());
    }
  for (const std::vector<std::string> &row : table) {
    out << left_justify(row[0], unsigned(widths[0]));
    for (size_t at = 1; at < row.size(); ++at)
      out << "  " << right_justify(row[at], unsigned(widths[at]));
    out << "\n";
  }
}

static void writePages(raw_ostream &out, const SimReport &report) {
  Table table(1);
  table[0] = {"pages"};
  for (const sim::TlbLevel &level : report.machine.tlbs)
    table[0].push_back(level.name + " misses");
  for (const sim::CacheLevel &level : report.machine.caches)
    table[0].push_back(level.name + " misses");
  table[0].insert(table[0].end(), {"memory", "walks, ms"});
  for (const SimPageCounts &page : report.all.pages) {
    std::vector<std::string> row = {pageName(page.pageBytes)};
    for (uint64_t misses : page.tlbMisses)
      row.push_back(shortCount(misses));
    for (const SimInterval &misses : page.cacheMisses)
      row.push_back(shortCount(misses));
    uint64_t lines = page.linesRead.max + page.linesWritten.max;
    row.push_back(formatBytes(lines * report.machine.lineBytes));
    row.push_back(walkMilliseconds(report, page));
    table.push_back(row);
  }
  writeTable(out, table);
}

/// Misses of the last cache with the smallest pages, and of the last TLB with
/// each.
static void writeParts(raw_ostream &out, const SimReport &report,
                       StringRef title, const std::vector<SimPart> &parts,
                       std::string (*getName)(const SimPart &, size_t)) {
  Table table(1);
  table[0] = {title.str(), "accesses",
              report.machine.caches.front().name + " misses",
              report.machine.caches.back().name + " misses"};
  for (const SimPageCounts &page : report.all.pages)
    table[0].push_back("walks " + pageName(page.pageBytes));
  for (size_t at = 0; at < std::min(maxRows, parts.size()); ++at) {
    const SimCounts &counts = parts[at].counts;
    table.push_back({getName(parts[at], nameColumns),
                     shortCount(counts.accesses),
                     shortCount(counts.pages[0].cacheMisses.front()),
                     shortCount(counts.pages[0].cacheMisses.back())});
    for (const SimPageCounts &page : counts.pages)
      table.back().push_back(
          page.tlbMisses.empty() ? "-" : shortCount(page.tlbMisses.back()));
  }
  writeTable(out, table);
  if (parts.size() > maxRows)
    out << "and " << parts.size() - maxRows << " more (--json has all)\n";
}

static void writeQuotas(raw_ostream &out, const SimReport &report) {
  const std::string &cache = report.machine.caches[report.divided.level].name;
  Table table(1);
  table[0] = {cache + " ways of sector 1"};
  for (const SimPageCounts &page : report.all.pages)
    for (const char *what : {" misses, ", " memory, "})
      table[0].push_back((what[1] == 'm' && what[2] == 'i' ? cache : "") +
                         what + pageName(page.pageBytes));
  for (const SimQuota &quota : report.quotas) {
    table.push_back({quota.ways ? std::to_string(quota.ways) : "not divided"});
    for (const SimPageCounts &page : quota.pages) {
      uint64_t lines = page.linesRead.max + page.linesWritten.max;
      table.back().push_back(
          shortCount(page.cacheMisses[report.divided.level]));
      table.back().push_back(formatBytes(lines * report.machine.lineBytes));
    }
  }
  writeTable(out, table);
}

void mpg::writeSimText(raw_ostream &out, const SimReport &report) {
  out << "mpgsim: " << printable(report.command[0]) << " "
      << describeEnding(report.ending)
      << (WIFSIGNALED(report.ending.waitStatus) ? ": results so far" : "")
      << "\n";
  out << describeCores(report) << " of " << printable(report.machine.name)
      << ", modelled, not measured: " << shortCount(report.all.accesses)
      << " loads and stores of " << formatBytes(report.accessedBytes) << "\n";
  if (std::string sample = describeSample(report); !sample.empty())
    out << fillText("Sample: " + sample + ".", 0) << "\n";
  if (std::string ranks = describeRanks(report); !ranks.empty())
    out << fillText("Ranks: " + ranks + ".", 0) << "\n";
  std::string gap = describeMissingPart(report);
  if (!gap.empty())
    out << fillText("Incomplete: " + gap + ".", 0) << "\n";
  out << fillText("Verdict: " + describeVerdict(report) + ".", 0) << "\n";
  if (std::string sectors = describeQuotaVerdict(report); !sectors.empty())
    out << fillText("Sectors: " + sectors + ".", 0) << "\n";
  if (std::string places = describePlacementVerdict(report); !places.empty())
    out << fillText("Placement: " + places + ".", 0) << "\n";
  out << "\n";
  if (report.all.accesses) {
    writePages(out, report);
    out << fillText("Bands: " + describeBands(report) + ".", 0) << "\n\n";
    if (!report.quotas.empty()) {
      writeQuotas(out, report);
      out << "\n";
    }
    writeParts(out, report, "array", report.arrays, arrayName);
    for (const SimPart &array :
         ArrayRef(report.arrays)
             .take_front(std::min(maxRows, report.arrays.size())))
      if (std::string use = describeSparseUse(array); !use.empty())
        out << fillText(arrayName(array, nameColumns) + ": " + use + ".", 2)
            << "\n";
    out << "\n";
    writeParts(out, report, "loop", report.loops, loopName);
    out << "\n";
  }
  std::vector<std::string> gaps = findGaps(report);
  if (!gaps.empty())
    out << fillText("Not seen: " + join(gaps, "; ") + ".", 2) << "\n";
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
  return formatv(form, value, units[unit]).str();
}

std::string mpg::shortCount(const SimInterval &interval) {
  std::string min = shortCount(interval.min);
  std::string max = shortCount(interval.max);
  return min == max ? min : min + " to " + max;
}

std::string mpg::walkMilliseconds(const SimReport &report,
                                  const SimPageCounts &page) {
  SimTime time = walkTime(report, page);
  if (time.max == 0)
    return "-";
  return formatv("{0:f1} to {1:f1}", time.min * 1e3, time.max * 1e3).str();
}

static std::string describePlace(const SimPart &part) {
  if (part.file.empty())
    return "";
  return printable(sys::path::filename(part.file)) +
         (part.line ? ":" + std::to_string(part.line) : "");
}

static std::string cutName(StringRef name, size_t max) {
  std::string whole = printable(shownFunction(name));
  return whole.size() > max ? whole.substr(0, max - 3) + "..." : whole;
}

std::string mpg::arrayName(const SimPart &part, size_t max) {
  std::string name = cutName(part.name, max);
  if (part.kind == "heap" || (part.kind == "stack" && !part.file.empty()))
    return name + (name.empty() ? "" : " ") + "(" + part.kind + ", " +
           describePlace(part) + ")";
  return part.kind == "global" ? name + " (global)" : name;
}

std::string mpg::loopName(const SimPart &part, size_t max) {
  std::string name = describePlace(part);
  if (name.empty())
    return "code that is not known";
  std::string function = cutName(part.name, max);
  if (part.kind != "loop")
    function += function.empty() ? "no loop" : ", no loop";
  return function.empty() ? name : name + " (" + function + ")";
}

std::string mpg::plural(uint64_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

//===----------------------------------------------------------------------===//
// The part of the run that a report is about
//===----------------------------------------------------------------------===//

double SimSampled::maxPercent() const {
  // Two clocks of the kernel, read at two moments.
  return runNs ? std::min(100.0, 100 * double(regionNs) / double(runNs)) : 100;
}

/// The reason for a missing region.
static std::string missingRegion(const SimSampled &sampled) {
  if (sampled.what.by == MPG_SIM_CALLS)
    return "the program did not call mpg_sim_begin, so nothing was recorded. "
           "Call it in front of what is to be modelled, and mpg_sim_end after "
           "it (mpg/mpg.h)";
  if (sampled.what.by == MPG_SIM_TIME)
    return formatv("the program ended before {0} s were over, so nothing was "
                   "recorded. Begin earlier",
                   sampled.what.delay)
        .str();
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
                   sampled.what.delay)
        .str();
  std::string times = ", " + plural(sampled.regions, "time", "times");
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
  std::string lone =
      sampled.loneEnds
          ? "; " + plural(sampled.loneEnds, "mpg_sim_end", "mpg_sim_ends") +
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
