// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that the user has named for a report, and the report as CSV.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

raw_ostream &mpg::simError() { return errs() << "mpgsim: error: "; }

std::unique_ptr<raw_fd_ostream> mpg::openSimFile(const std::string &path) {
  std::error_code code;
  auto file = std::make_unique<raw_fd_ostream>(path, code);
  if (!code)
    return file;
  simError() << "cannot write " << printable(path) << ": " << code.message()
             << "\n";
  return nullptr;
}

bool SimOutput::open() {
  for (auto [path, file] : {std::pair(&options.html, &html),
                            {&options.output, &output},
                            {&options.record, &recordFile}})
    if (!path->empty() && !(*file = openSimFile(*path)))
      return false;
  return true;
}

bool SimOutput::write(const SimReport &report) {
  // Standard output is the program's, if there is one.
  raw_fd_ostream &standard = options.merges ? outs() : errs();
  raw_fd_ostream &out = output ? *output : standard;
  if (options.json)
    writeSimJson(out, report);
  else if (options.csv)
    writeSimCsv(out, report);
  else
    writeSimText(out, report);
  if (html)
    writeSimHtml(*html, report);
  for (auto [path, file] : {std::pair(&options.html, html.get()),
                            {&options.output, output.get()},
                            {&options.record, recordFile.get()}}) {
    if (!file)
      continue;
    file->flush();
    if (!file->has_error())
      continue;
    simError() << "cannot write " << printable(*path) << ": "
               << file->error().message() << "\n";
    file->clear_error();
    return false;
  }
  return true;
}

// The report as CSV (RFC 4180): a line for the whole, each array and each loop
// with each page size, and for each division of the sector cache.

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
    out << "," << interval.min << "," << interval.max;
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
