// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report in one screen.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <sys/wait.h>

using namespace llvm;
using namespace mpg;

/// Rows of a table, so that all stands on one screen.
static constexpr size_t mostRows = 8;
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
    uint64_t lines = page.linesRead.most + page.linesWritten.most;
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
                       std::string (*nameOf)(const SimPart &, size_t)) {
  Table table(1);
  table[0] = {title.str(), "accesses",
              report.machine.caches.front().name + " misses",
              report.machine.caches.back().name + " misses"};
  for (const SimPageCounts &page : report.all.pages)
    table[0].push_back("walks " + pageName(page.pageBytes));
  for (size_t at = 0; at < std::min(mostRows, parts.size()); ++at) {
    const SimCounts &counts = parts[at].counts;
    table.push_back({nameOf(parts[at], nameColumns),
                     shortCount(counts.accesses),
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
  out << coresOf(report) << " of " << printable(report.machine.name)
      << ", modelled, not measured: " << shortCount(report.all.accesses)
      << " loads and stores of " << formatBytes(report.accessedBytes) << "\n";
  if (std::string sample = sampleOf(report); !sample.empty())
    out << fillText("Sample: " + sample + ".", 0) << "\n";
  if (std::string ranks = ranksOf(report); !ranks.empty())
    out << fillText("Ranks: " + ranks + ".", 0) << "\n";
  std::string gap = missingPartOf(report);
  if (!gap.empty())
    out << fillText("Incomplete: " + gap + ".", 0) << "\n";
  out << fillText("Verdict: " + verdictOf(report) + ".", 0) << "\n";
  if (std::string sectors = quotaVerdictOf(report); !sectors.empty())
    out << fillText("Sectors: " + sectors + ".", 0) << "\n";
  if (std::string places = placementVerdictOf(report); !places.empty())
    out << fillText("Placement: " + places + ".", 0) << "\n";
  out << "\n";
  if (report.all.accesses) {
    writePages(out, report);
    out << "\n";
    if (!report.quotas.empty()) {
      writeQuotas(out, report);
      out << "\n";
    }
    writeParts(out, report, "array", report.arrays, arrayName);
    for (const SimPart &array :
         ArrayRef(report.arrays)
             .take_front(std::min(mostRows, report.arrays.size())))
      if (std::string use = sparseUseOf(array); !use.empty())
        out << fillText(arrayName(array, nameColumns) + ": " + use + ".", 2)
            << "\n";
    out << "\n";
    writeParts(out, report, "loop", report.loops, loopName);
    out << "\n";
  }
  std::vector<std::string> gaps = gapsOf(report);
  if (!gaps.empty())
    out << fillText("Not seen: " + join(gaps, "; ") + ".", 2) << "\n";
}
