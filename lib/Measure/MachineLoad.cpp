// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What /proc/stat says of all processes, less what rusage says of this one and
// its children, is what others used. The two are counted differently, by ticks
// and exactly, so that over a short time the difference is off by a tick either
// way. It is therefore not cut off at 0: summed over many short times it would
// become load that was not there.

#include "Measure/MachineLoad.h"
#include "Measure/Clock.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <ctime>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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

std::optional<LoadSample> mpg::parseLoad(StringRef stat, StringRef loadavg) {
  StringRef line = stat.split('\n').first;
  if (!line.consume_front("cpu "))
    return std::nullopt;
  // Old kernels write fewer columns; what follows steal is in user already.
  uint64_t ticks[columns] = {};
  SmallVector<StringRef, 10> words;
  line.split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.size() <= size_t(idleTicks))
    return std::nullopt;
  for (size_t i = 0; i < words.size(); ++i) {
    uint64_t value = 0;
    // So that no sum overflows.
    if (words[i].getAsInteger(10, value) || value >> 60)
      return std::nullopt;
    if (i < columns)
      ticks[i] = value;
  }
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

static double ownSeconds() {
  rusage self = {}, children = {};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  return secondsOf(self.ru_utime) + secondsOf(self.ru_stime) +
         secondsOf(children.ru_utime) + secondsOf(children.ru_stime);
}

std::optional<LoadSample> mpg::readLoad() {
  auto stat = MemoryBuffer::getFileAsStream("/proc/stat");
  auto loadavg = MemoryBuffer::getFileAsStream("/proc/loadavg");
  if (!stat || !loadavg)
    return std::nullopt;
  std::optional<LoadSample> sample =
      parseLoad((*stat)->getBuffer(), (*loadavg)->getBuffer());
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
                 std::max(0.0, othersCpus), stealCpus)
      .str();
}
