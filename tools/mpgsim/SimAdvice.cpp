// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arrays to put into sector 1, and the side file that says so to
// mpg-clang (docs/hints.md). An array that the divided cache cannot hold gains
// nothing from being in it, and pushes out those that it can hold: it is a
// stream. What that is worth is not said here; a second run of the program
// models it.

#include "SimReport.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

/// Arrays with fewer of the misses than one in so many are left as they are.
static constexpr uint64_t missesPerMiss = 50;

static uint64_t cacheBytes(const SimReport &report, const SimQuotas &quotas) {
  const sim::CacheLevel &cache = report.machine.caches[quotas.level];
  return cache.bytes / cache.ways * quotas.allWays;
}

static std::string streamName(const SimPart &part) {
  if (!part.name.empty())
    return part.name;
  return sys::path::filename(part.file).str() + ":" + std::to_string(part.line);
}

StreamChoice mpg::chooseStream(const SimReport &report) {
  StreamChoice choice;
  SimQuotas quotas = quotasOf(report.machine);
  if (quotas.ways.empty()) {
    choice.reason = report.machine.name + " has no sector cache";
    return choice;
  }
  const sim::CacheLevel &cache = report.machine.caches[quotas.level];
  auto missesOf = [&](const SimCounts &counts) {
    return counts.pages.front().cacheMisses[quotas.level].most;
  };
  bool hasKept = false;
  for (const SimPart &part : report.arrays) {
    if (missesOf(part.counts) * missesPerMiss < missesOf(report.all) ||
        (part.kind != "global" && part.kind != "heap"))
      continue;
    if (part.bytes > cacheBytes(report, quotas))
      choice.arrays.push_back(part);
    else
      hasKept = true;
  }
  std::string held =
      "the " + formatBytes(cacheBytes(report, quotas)) + " of " + cache.name;
  if (choice.arrays.empty())
    choice.reason = "no array with many misses is larger than " + held;
  else if (!hasKept)
    choice.reason =
        "no array with many misses fits into " + held + " beside a stream";
  if (!choice.reason.empty())
    choice.arrays.clear();
  return choice;
}

std::vector<std::string> StreamChoice::names() const {
  std::vector<std::string> all;
  for (const SimPart &part : arrays)
    all.push_back(streamName(part));
  return all;
}

/// Names that need no quotes in YAML, and that the side file may have.
static bool isHintable(const SimPart &part) {
  return part.kind == "global" && !part.name.empty() &&
         all_of(part.name, [](char letter) {
           return isAlnum(letter) || letter == '_' || letter == '.';
         });
}

bool StreamChoice::hasHint() const { return any_of(arrays, isHintable); }

void mpg::writeAdvice(raw_ostream &out, const SimReport &report,
                      const StreamChoice &choice) {
  const SimQuota *best = bestQuota(report);
  std::string command = printable(report.command[0]);
  out << "# Advice of mpgsim for " << command << ": modelled for one core of "
      << printable(report.machine.name) << ", not measured.\n"
      << "# Sectors: " << quotaVerdictOf(report) << ".\n"
      << "# Pages: " << verdictOf(report) << ".\n"
      << "# Compile with mpg-clang --mpg-hints=FILE, then run:\n"
      << "#   FLIB_SCCR_CNTL=TRUE FLIB_L2_SECTOR_NWAYS_INIT="
      << report.divided.allWays - best->ways << "," << best->ways << " mpgrun "
      << command << "\n";
  for (const SimPart &part : choice.arrays) {
    std::string size = formatBytes(part.bytes);
    if (isHintable(part))
      out << part.name << ": stream # " << size << ", more than "
          << report.machine.caches[report.divided.level].name << " holds\n";
    else
      out << "# By hand: MPG_STREAM in front of the pointers to "
          << printable(streamName(part)) << ", " << size << "\n";
  }
}
