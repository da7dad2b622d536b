// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the user has named for a report, and the report as CSV.

#include "SimReport.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

raw_ostream &mpg::simError() { return errs() << "mpgsim: error: "; }

/// False after an error, which it says.
static bool checkWritten(const std::string &path, std::error_code code) {
  if (code)
    simError() << "cannot write " << printable(path) << ": " << code.message()
               << "\n";
  return !code;
}

bool SimOutput::open() {
  for (const std::string *path :
       {&options.html, &options.output, &options.record})
    if (!path->empty() && !checkWritten(*path, checkOutputFile(*path)))
      return false;
  return true;
}

raw_fd_ostream *SimOutput::record() {
  if (!options.record.empty() && !recordFile && !recordError)
    recordFile = std::make_unique<raw_fd_ostream>(options.record, recordError);
  return recordError ? nullptr : recordFile.get();
}

bool SimOutput::write(const SimReport &report) {
  auto writeReport = [&](raw_ostream &out) {
    if (options.json)
      writeSimJson(out, report);
    else if (options.csv)
      writeSimCsv(out, report);
    else
      writeSimText(out, report);
  };
  bool isWritten = true;
  // Standard output is the program's, if there is one.
  if (options.output.empty())
    writeReport(options.merges ? outs() : errs());
  else
    isWritten = checkWritten(options.output,
                             writeOutputFile(options.output, writeReport));
  if (!options.html.empty())
    isWritten &= checkWritten(
        options.html, writeOutputFile(options.html, [&](raw_ostream &out) {
          writeSimHtml(out, report);
        }));
  if (raw_fd_ostream *file = record()) {
    file->flush();
    recordError = file->error();
    file->clear_error();
  }
  return isWritten & checkWritten(options.record, recordError);
}

// The report as CSV (RFC 4180): a line for the whole, each array and each loop
// with each page size, and for each division of the sector cache.

static std::vector<std::string> headCells(const SimReport &report) {
  std::vector<std::string> cells = {"what",         "name",      "file",
                                    "line",         "bytes",     "accesses",
                                    "sector1_ways", "page_bytes"};
  for (const sim::TlbLevel &level : report.machine.tlbs)
    cells.push_back(level.name + " misses");
  for (const sim::CacheLevel &level : report.machine.caches)
    append_values(cells, level.name + " misses min",
                  level.name + " misses max");
  append_values(cells, "lines read min", "lines read max", "lines written min",
                "lines written max");
  return cells;
}

static void writeCsvRow(raw_ostream &out, const SimPart &part, unsigned ways,
                        const SimPageCounts &page) {
  std::vector<std::string> cells = {part.kind,
                                    part.name + part.distinction,
                                    part.file,
                                    part.line ? std::to_string(part.line) : "",
                                    part.bytes ? std::to_string(part.bytes)
                                               : "",
                                    std::to_string(part.counts.accesses),
                                    std::to_string(ways),
                                    std::to_string(page.pageBytes)};
  for (uint64_t misses : page.tlbMisses)
    cells.push_back(std::to_string(misses));
  std::vector<SimInterval> intervals = page.cacheMisses;
  append_values(intervals, page.linesRead, page.linesWritten);
  for (const SimInterval &interval : intervals)
    append_values(cells, std::to_string(interval.min),
                  std::to_string(interval.max));
  writeCsvLine(out, cells, "\r\n");
}

void mpg::writeSimCsv(raw_ostream &out, const SimReport &report) {
  writeCsvLine(out, headCells(report), "\r\n");
  SimPart whole;
  whole.kind = "all";
  whole.name = report.command[0];
  whole.counts = report.all;
  for (const SimPageCounts &page : report.all.pages)
    writeCsvRow(out, whole, 0, page);
  for (const SimQuota &quota :
       drop_begin(report.quotas, !report.quotas.empty()))
    for (const SimPageCounts &page : quota.pages)
      writeCsvRow(out, whole, quota.ways, page);
  for (const std::vector<SimPart> *parts : {&report.arrays, &report.loops})
    for (const SimPart &part : *parts)
      for (const SimPageCounts &page : part.counts.pages)
        writeCsvRow(out, part, 0, page);
}
