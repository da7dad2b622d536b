// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report as CSV (RFC 4180): a line for the whole, each array and each loop
// with each page size, and for each division of the sector cache.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

/// In quotes where it needs them.
static std::string field(StringRef text) {
  std::string valid = validUtf8(text);
  if (valid.find_first_of("\",\r\n") == std::string::npos)
    return valid;
  std::string quoted = "\"";
  for (char letter : valid)
    quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

static void writeHead(raw_ostream &out, const SimReport &report) {
  out << "what,name,file,line,bytes,accesses,sector1_ways,page_bytes";
  for (const sim::TlbLevel &level : report.machine.tlbs)
    out << "," << field(level.name + " misses");
  std::vector<std::string> names;
  for (const sim::CacheLevel &level : report.machine.caches)
    names.push_back(level.name + " misses");
  names.insert(names.end(), {"lines read", "lines written"});
  for (const std::string &name : names)
    out << "," << field(name + " min") << "," << field(name + " max");
  out << "\r\n";
}

static void writeRow(raw_ostream &out, const SimPart &part, unsigned ways,
                     const SimPageCounts &page) {
  out << part.kind << "," << field(part.name) << "," << field(part.file) << ","
      << (part.line ? std::to_string(part.line) : "") << ","
      << (part.bytes ? std::to_string(part.bytes) : "") << ","
      << part.counts.accesses << "," << ways << "," << page.pageBytes;
  for (uint64_t misses : page.tlbMisses)
    out << "," << misses;
  std::vector<SimInterval> intervals = page.cacheMisses;
  intervals.insert(intervals.end(), {page.linesRead, page.linesWritten});
  for (const SimInterval &interval : intervals)
    out << "," << interval.least << "," << interval.most;
  out << "\r\n";
}

void mpg::writeSimCsv(raw_ostream &out, const SimReport &report) {
  writeHead(out, report);
  SimPart whole;
  whole.kind = "all";
  whole.name = report.command[0];
  whole.counts = report.all;
  for (const SimPageCounts &page : report.all.pages)
    writeRow(out, whole, 0, page);
  for (const SimQuota &quota :
       drop_begin(report.quotas, !report.quotas.empty()))
    for (const SimPageCounts &page : quota.pages)
      writeRow(out, whole, quota.ways, page);
  for (const std::vector<SimPart> *parts : {&report.arrays, &report.loops})
    for (const SimPart &part : *parts)
      for (const SimPageCounts &page : part.counts.pages)
        writeRow(out, part, 0, page);
}
