// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MachineLoad.h.

#include "Measure/MachineLoad.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// Clocks

double mpg::nowSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double mpg::toSeconds(const timeval &time) {
  return double(time.tv_sec) + double(time.tv_usec) * 1e-6;
}

std::string mpg::utcNow() {
  time_t now = time(nullptr);
  tm parts;
  char text[sizeof("2026-01-01T00:00:00Z")];
  gmtime_r(&now, &parts);
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Load. What /proc/stat says of all processes, less what rusage says of this
// one and its children, is what others used. The two are counted differently,
// by ticks and exactly, so that over a short time the difference is off by a
// tick either way. It is therefore not cut off at 0: summed over many short
// times it would become load that was not there.

/// The columns of the line "cpu" in /proc/stat, proc(5).
enum Column {
  userTicks,
  niceTicks,
  systemTicks,
  idleTicks,
  iowaitTicks,
  irqTicks,
  softirqTicks,
  stealTicks,
  columns
};

/// Adds the columns of \p line, of /proc/stat, to \p ticks. False: it is none.
static bool addTicks(StringRef line, uint64_t (&ticks)[columns]) {
  // Old kernels write fewer columns; what follows steal is in user already.
  SmallVector<StringRef, 10> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.size() <= size_t(idleTicks))
    return false;
  for (size_t i = 0; i < words.size(); ++i) {
    uint64_t value = 0;
    // So that no sum overflows.
    if (words[i].getAsInteger(10, value) || value >> 48)
      return false;
    if (i < columns)
      ticks[i] += value;
  }
  return true;
}

/// The line of all CPUs, or those of \p cpus, one after the other.
static bool addCpus(StringRef stat, ArrayRef<unsigned> cpus,
                    uint64_t (&ticks)[columns]) {
  bool isFound = false;
  while (stat.starts_with("cpu")) {
    StringRef line;
    std::tie(line, stat) = stat.split('\n');
    line = line.drop_front(strlen("cpu"));
    unsigned cpu;
    bool isWanted =
        cpus.empty() ? line.starts_with(" ")
                     : !line.consumeInteger(10, cpu) && is_contained(cpus, cpu);
    if (isWanted && !addTicks(line, ticks))
      return false;
    isFound |= isWanted;
  }
  return isFound;
}

std::optional<LoadSample> mpg::parseLoad(StringRef stat, StringRef loadavg,
                                         ArrayRef<unsigned> cpus) {
  uint64_t ticks[columns] = {};
  if (!addCpus(stat, cpus, ticks))
    return std::nullopt;
  LoadSample sample;
  sample.busyTicks = ticks[userTicks] + ticks[niceTicks] + ticks[systemTicks] +
                     ticks[irqTicks] + ticks[softirqTicks];
  sample.idleTicks = ticks[idleTicks] + ticks[iowaitTicks];
  sample.stealTicks = ticks[stealTicks];
  if (loadavg.split(' ').first.getAsDouble(sample.loadAverage) ||
      !(sample.loadAverage >= 0 && sample.loadAverage < 1e9))
    return std::nullopt;
  return sample;
}

std::vector<unsigned> mpg::allowedCpus() {
  std::vector<unsigned> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

static double ownSeconds() {
  rusage self = {}, children = {};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  return toSeconds(self.ru_utime) + toSeconds(self.ru_stime) +
         toSeconds(children.ru_utime) + toSeconds(children.ru_stime);
}

std::optional<LoadSample> mpg::readLoad(ArrayRef<unsigned> cpus) {
  auto stat = MemoryBuffer::getFileAsStream("/proc/stat");
  auto loadavg = MemoryBuffer::getFileAsStream("/proc/loadavg");
  if (!stat || !loadavg)
    return std::nullopt;
  std::optional<LoadSample> sample =
      parseLoad((*stat)->getBuffer(), (*loadavg)->getBuffer(), cpus);
  if (!sample)
    return std::nullopt;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  sample->wallSeconds = double(now.tv_sec) + double(now.tv_nsec) / 1e9;
  sample->ownSeconds = ownSeconds();
  return sample;
}

/// Seconds; negative if the counter went back, as the kernel's sometimes do.
static double ticksBetween(uint64_t before, uint64_t after) {
  static const long ticksPerSecond = sysconf(_SC_CLK_TCK);
  return (double(after) - double(before)) /
         double(ticksPerSecond > 0 ? ticksPerSecond : 100);
}

LoadBetween mpg::loadBetween(const LoadSample &before,
                             const LoadSample &after) {
  LoadBetween load;
  load.loadAverage = after.loadAverage;
  load.seconds = after.wallSeconds - before.wallSeconds;
  if (!(load.seconds > 0)) {
    load.seconds = 0;
    return load;
  }
  double own = after.ownSeconds - before.ownSeconds;
  load.othersCpus =
      (ticksBetween(before.busyTicks, after.busyTicks) - own) / load.seconds;
  load.stealCpus = std::max(
      0.0, ticksBetween(before.stealTicks, after.stealTicks) / load.seconds);
  return load;
}

std::string LoadBetween::describe() const {
  return formatv("other processes used {0:f2} CPUs, steal {1:f2}",
                 std::max(0.0, othersCpus), stealCpus);
}

// Waiting for memory

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", in microseconds.
static std::optional<double> parsePressure(StringRef pressure) {
  StringRef line = pressure.split('\n').first;
  uint64_t microseconds;
  if (!line.consume_front("some ") ||
      line.rsplit("total=").second.trim().getAsInteger(10, microseconds) ||
      microseconds >> 56)
    return std::nullopt;
  return double(microseconds) / 1e6;
}

/// The counter that \p name in /proc/vmstat or memory.stat has; null: none.
static uint64_t *findCounter(MemoryStalls &stalls, StringRef name) {
  if (name.starts_with("allocstall")) // a line for each zone
    return &stalls.reclaims;
  return StringSwitch<uint64_t *>(name)
      .Case("compact_stall", &stalls.compactions)
      .Case("compact_fail", &stalls.compactionsInVain)
      .Case("thp_fault_alloc", &stalls.largeFaults)
      .Case("thp_fault_fallback", &stalls.refusedFaults)
      .Case("thp_split_page", &stalls.splits)
      .Case("thp_collapse_alloc", &stalls.collapses)
      .Case("thp_collapse_alloc_failed", &stalls.collapsesInVain)
      .Default(nullptr);
}

/// Nothing if one of the lines \p needed is not there.
static std::optional<MemoryStalls>
parseCounters(StringRef text, StringRef pressure, ArrayRef<StringRef> needed) {
  MemoryStalls stalls;
  size_t found = 0;
  for (StringRef line : split(text, '\n')) {
    auto [name, number] = line.split(' ');
    uint64_t *counter = findCounter(stalls, name);
    uint64_t count;
    // So that no sum overflows.
    if (!counter || number.trim().getAsInteger(10, count) || count >> 56)
      continue;
    *counter += count;
    found += is_contained(needed, name);
  }
  if (found < needed.size())
    return std::nullopt;
  stalls.waitedSeconds = parsePressure(pressure);
  return stalls;
}

std::optional<MemoryStalls> mpg::parseStalls(StringRef vmstat,
                                             StringRef pressure) {
  return parseCounters(vmstat, pressure, {"compact_stall", "thp_fault_alloc"});
}

std::optional<MemoryStalls> mpg::parseGroupStalls(StringRef memoryStat,
                                                  StringRef pressure) {
  std::optional<MemoryStalls> stalls =
      parseCounters(memoryStat, pressure, {"thp_fault_alloc"});
  if (stalls)
    stalls->isOfGroup = true;
  return stalls;
}

std::optional<MemoryStalls> mpg::readStalls() {
  auto vmstat = MemoryBuffer::getFileAsStream("/proc/vmstat");
  auto pressure = MemoryBuffer::getFileAsStream("/proc/pressure/memory");
  if (!vmstat)
    return std::nullopt;
  return parseStalls((*vmstat)->getBuffer(),
                     pressure ? (*pressure)->getBuffer() : "");
}

MemoryStalls mpg::stallsBetween(const MemoryStalls &before,
                                const MemoryStalls &after) {
  // The kernel adds up what its CPUs have counted, and may be behind.
  auto grown = [](auto from, auto to) { return std::max(from, to) - from; };
  MemoryStalls stalls;
  stalls.compactions = grown(before.compactions, after.compactions);
  stalls.compactionsInVain =
      grown(before.compactionsInVain, after.compactionsInVain);
  stalls.reclaims = grown(before.reclaims, after.reclaims);
  stalls.largeFaults = grown(before.largeFaults, after.largeFaults);
  stalls.refusedFaults = grown(before.refusedFaults, after.refusedFaults);
  stalls.splits = grown(before.splits, after.splits);
  stalls.collapses = grown(before.collapses, after.collapses);
  stalls.collapsesInVain = grown(before.collapsesInVain, after.collapsesInVain);
  stalls.isOfGroup = after.isOfGroup;
  if (before.waitedSeconds && after.waitedSeconds)
    stalls.waitedSeconds = grown(*before.waitedSeconds, *after.waitedSeconds);
  return stalls;
}

bool MemoryStalls::isNone() const {
  bool hasGroups = isOfGroup && largeFaults;
  return !hasGroups && !compactions && !reclaims && !refusedFaults && !splits &&
         !collapses && !collapsesInVain &&
         waitedSeconds.value_or(0) < 0.005; // what would show as 0.00
}

std::string MemoryStalls::describe() const {
  if (isNone())
    return "none";
  std::string text;
  if (isOfGroup) // the kernel counts no others for it
    text = formatv("large pages at {0:N} page faults", largeFaults);
  else
    text = formatv(
        "compaction {0:N} times ({1:N} in vain), reclaim {2:N} times; "
        "large pages at {3:N} page faults, refused at {4:N}",
        compactions, compactionsInVain, reclaims, largeFaults, refusedFaults);
  if (splits)
    text += formatv("; large pages split: {0:N}", splits);
  if (collapses || collapsesInVain)
    text += formatv("; khugepaged made {0:N}", collapses);
  if (collapsesInVain)
    text += formatv(" ({0:N} in vain)", collapsesInVain);
  if (waitedSeconds)
    text += formatv("; some process waited for memory for {0:f2} s",
                    *waitedSeconds);
  return text;
}

std::string mpg::readDefrag() {
  auto file = MemoryBuffer::getFileAsStream(
      "/sys/kernel/mm/transparent_hugepage/defrag");
  if (!file)
    return "";
  return (*file)->getBuffer().split('[').second.split(']').first.str();
}

std::vector<std::pair<StringRef, std::optional<uint64_t>>>
MemoryStalls::counts() const {
  std::optional<uint64_t> waitedMs;
  if (waitedSeconds)
    waitedMs = uint64_t(*waitedSeconds * 1000);
  return {{"compactions", compactions},
          {"compactions_in_vain", compactionsInVain},
          {"reclaims", reclaims},
          {"large_faults", largeFaults},
          {"refused_faults", refusedFaults},
          {"splits", splits},
          {"collapses", collapses},
          {"collapses_in_vain", collapsesInVain},
          {"waited_ms", waitedMs}};
}

StringRef mpg::describeDefrag(StringRef word) {
  return StringSwitch<StringRef>(word)
      .Case("always",
            "each fault waits for compaction if no large page is free")
      .Case("defer", "no fault waits: compaction runs in the background")
      .Case("defer+madvise",
            "faults in memory that asked for large pages wait for compaction, "
            "for others it runs in the background")
      .Case("madvise", "faults in memory that asked for large pages wait for "
                       "compaction, others take a normal page")
      .Case("never", "no fault waits: it takes a normal page if no large one "
                     "is free")
      .Default("");
}
