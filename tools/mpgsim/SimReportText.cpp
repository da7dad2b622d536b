// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report in one screen.

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
static constexpr size_t mostRows = 8;

/// "1234567" as "1.23 M".
static std::string shortCount(uint64_t count) {
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

static std::string shortCount(const SimInterval &interval) {
  std::string least = shortCount(interval.least);
  std::string most = shortCount(interval.most);
  return least == most ? least : least + " to " + most;
}

static std::string times(const SimReport &report, const SimPageCounts &page) {
  SimTime time = walkTime(report, page);
  if (time.most == 0)
    return "-";
  return formatv("{0:f1} to {1:f1}", time.least * 1e3, time.most * 1e3).str();
}

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
    uint64_t lines = page.linesRead.most + page.linesWritten.most;
    row.push_back(formatBytes(lines * report.machine.lineBytes));
    row.push_back(times(report, page));
    table.push_back(row);
  }
  writeTable(out, table);
}

static std::string placeOf(const SimPart &part) {
  if (part.file.empty())
    return "";
  return printable(sys::path::filename(part.file)) +
         (part.line ? ":" + std::to_string(part.line) : "");
}

/// Short enough for a column.
static std::string cutName(StringRef name) {
  static constexpr size_t most = 24;
  std::string whole = printable(shownFunction(name));
  return whole.size() > most ? whole.substr(0, most - 3) + "..." : whole;
}

static std::string arrayName(const SimPart &part) {
  std::string name = cutName(part.name);
  if (part.kind == "heap" || (part.kind == "stack" && !part.file.empty()))
    return name + (name.empty() ? "" : " ") + "(" + part.kind + ", " +
           placeOf(part) + ")";
  return part.kind == "global" ? name + " (global)" : name;
}

static std::string loopName(const SimPart &part) {
  std::string name = placeOf(part);
  if (name.empty())
    return "code that is not known";
  return name + " (" + cutName(part.name) +
         (part.kind == "loop" ? ")" : ", no loop)");
}

/// Misses of the last cache with the smallest pages, and of the last TLB with
/// each.
static void writeParts(raw_ostream &out, const SimReport &report,
                       StringRef title, const std::vector<SimPart> &parts,
                       std::string (*nameOf)(const SimPart &)) {
  Table table(1);
  table[0] = {title.str(), "accesses",
              report.machine.caches.front().name + " misses",
              report.machine.caches.back().name + " misses"};
  for (const SimPageCounts &page : report.all.pages)
    table[0].push_back("walks " + pageName(page.pageBytes));
  for (size_t at = 0; at < std::min(mostRows, parts.size()); ++at) {
    const SimCounts &counts = parts[at].counts;
    table.push_back({nameOf(parts[at]), shortCount(counts.accesses),
                     shortCount(counts.pages[0].cacheMisses.front()),
                     shortCount(counts.pages[0].cacheMisses.back())});
    for (const SimPageCounts &page : counts.pages)
      table.back().push_back(
          page.tlbMisses.empty() ? "-" : shortCount(page.tlbMisses.back()));
  }
  writeTable(out, table);
  if (parts.size() > mostRows)
    out << "and " << parts.size() - mostRows << " more (--json has all)\n";
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
      uint64_t lines = page.linesRead.most + page.linesWritten.most;
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
  out << "One core of " << printable(report.machine.name)
      << ", modelled, not measured: " << shortCount(report.all.accesses)
      << " loads and stores of " << formatBytes(report.accessedBytes) << "\n";
  std::string gap = missingPartOf(report);
  if (!gap.empty())
    out << fillText("Incomplete: " + gap + ".", 0) << "\n";
  out << fillText("Verdict: " + verdictOf(report) + ".", 0) << "\n";
  if (std::string sectors = quotaVerdictOf(report); !sectors.empty())
    out << fillText("Sectors: " + sectors + ".", 0) << "\n";
  out << "\n";
  if (report.all.accesses) {
    writePages(out, report);
    out << "\n";
    if (!report.quotas.empty()) {
      writeQuotas(out, report);
      out << "\n";
    }
    writeParts(out, report, "array", report.arrays, arrayName);
    out << "\n";
    writeParts(out, report, "loop", report.loops, loopName);
    out << "\n";
  }
  std::vector<std::string> gaps = gapsOf(report);
  if (!gaps.empty())
    out << fillText("Not seen: " + join(gaps, "; ") + ".", 2) << "\n";
}
