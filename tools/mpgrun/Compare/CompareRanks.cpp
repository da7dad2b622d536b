// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompareRanks.h.

#include "mpgrun/Compare/CompareRanks.h"
#include "Process/Program.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "Support/JsonMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// The order

std::optional<RankOrder> mpg::readRankOrder() {
  const char *text = getenv(rankVariable);
  if (!text)
    return std::nullopt;
  auto [mode, rest] = StringRef(text).split(':');
  auto [what, folder] = rest.split(':');
  return RankOrder{mode.str(), folder.str(), what == "look"};
}

std::string mpg::rankOrderText(const RankOrder &order) {
  return order.mode + (order.looks ? ":look:" : ":run:") + order.folder;
}

// Files

/// A rank's file has one for each event that mpgrun counts.
static constexpr size_t maxCounters = 1000, maxRankBytes = 1 << 20;

template <typename Json, typename Rank>
static void mapRank(Json &json, Rank &rank) { // const for JsonWriter
  auto &sample = rank.sample;
  auto &memory = rank.memory;
  json.field("host", rank.host);
  json.field("cpus", rank.cpus);
  json.field("others", rank.othersSeconds);
  json.field("steal", rank.stealSeconds);
  json.field("status", sample.waitStatus);
  json.field("wall", sample.wallSeconds);
  json.field("user", sample.userSeconds);
  json.field("system", sample.systemSeconds);
  json.field("minor", sample.minorFaults);
  json.field("major", sample.majorFaults);
  json.field("peak", sample.peakRssBytes);
  json.field("measured", memory.measured);
  json.field("libmpg", memory.hasState);
  json.field("fallback", memory.fallback);
  json.field("pool", memory.peakHugetlbBytes);
  json.field("bytes", memory.bytes);
  json.field("huge", memory.hugeBytes);
  json.field("peak-bytes", memory.peakBytes);
  json.field("peak-huge", memory.peakHugeBytes);
  json.field("reason", memory.reason);
  json.list("counters", maxCounters, sample.counters,
            [](Json &inner, auto &counter) {
              inner.field("name", counter.name);
              inner.field("value", counter.value);
              inner.field("missing", counter.missing);
            });
}

std::string mpg::writeRankResult(const RankOrder &order,
                                 const RankResult &result) {
  JsonWriter json;
  mapRank(json, result);
  std::string name =
      order.folder + "/" + result.host + "-" + std::to_string(getpid());
  std::error_code error = writeOutputFile(
      name, [&](raw_ostream &out) { writeJson(out, json.finish()); });
  return error ? name + ": " + error.message() : "";
}

std::vector<RankResult> mpg::readRankResults(const std::string &folder) {
  std::vector<RankResult> ranks;
  std::vector<std::string> names;
  readNames(folder, names);
  for (const std::string &name : names) {
    auto file = readUnmapped(folder + "/" + name);
    if (!file)
      continue;
    Expected<json::Value> value = parseJson((*file)->getBuffer(), maxRankBytes);
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    std::string error;
    RankResult rank;
    JsonReader json(JsonFields(*value, "", error));
    mapRank(json, rank);
    if (error.empty())
      ranks.push_back(std::move(rank));
  }
  return ranks;
}

// All together

static void addModeMemory(ModeMemory &all, const ModeMemory &one) {
  all.measured &= one.measured;
  all.hasState &= one.hasState;
  all.fallback |= one.fallback;
  all.peakHugetlbBytes += one.peakHugetlbBytes;
  all.bytes += one.bytes;
  all.hugeBytes += one.hugeBytes;
  all.peakBytes += one.peakBytes;
  all.peakHugeBytes += one.peakHugeBytes;
  if (all.reason.empty())
    all.reason = one.reason;
}

/// Sums of what every rank has.
static void addCounters(std::vector<CounterValue> &all,
                        ArrayRef<CounterValue> one) {
  for (size_t i = 0; i < all.size(); ++i) {
    CounterValue &sum = all[i];
    bool isSame = i < one.size() && one[i].name == sum.name;
    if (isSame && one[i].value && sum.value) {
      *sum.value += *one[i].value;
    } else if (sum.value) {
      sum.value.reset();
      sum.missing = isSame ? one[i].missing : "not on all nodes";
    }
  }
}

MergedRanks mpg::mergeRanks(ArrayRef<RankResult> ranks) {
  MergedRanks all;
  all.memory.measured = all.memory.hasState = true;
  // Ranks that share CPUs see each other as others.
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> load;
  std::map<std::pair<std::string, std::string>, double> otherRanks;
  all.sample.counters = ranks.front().sample.counters;
  for (const RankResult &rank : ranks.drop_front())
    addCounters(all.sample.counters, rank.sample.counters);
  for (const RankResult &rank : ranks) {
    const RunSample &sample = rank.sample;
    all.sample.wallSeconds =
        std::max(all.sample.wallSeconds, sample.wallSeconds);
    all.sample.userSeconds += sample.userSeconds;
    all.sample.systemSeconds += sample.systemSeconds;
    all.sample.minorFaults += sample.minorFaults;
    all.sample.majorFaults += sample.majorFaults;
    all.sample.peakRssBytes =
        std::max(all.sample.peakRssBytes, sample.peakRssBytes);
    if (sample.waitStatus)
      all.sample.waitStatus = sample.waitStatus;
    addModeMemory(all.memory, rank.memory);
    auto &[others, steal] = load[{rank.host, rank.cpus}];
    double busy = rank.othersSeconds + sample.cpuSeconds();
    others = std::max(others, busy);
    steal = std::max(steal, rank.stealSeconds);
    otherRanks[{rank.host, rank.cpus}] += sample.cpuSeconds();
  }
  for (const auto &[place, both] : load) {
    all.othersSeconds += both.first - otherRanks[place];
    all.stealSeconds += both.second;
  }
  return all;
}

// Launchers

static StringRef getName(StringRef word) { return sys::path::filename(word); }

bool mpg::startsMpgrun(ArrayRef<std::string> command) {
  return any_of(command.drop_front(), [](const std::string &word) {
    return getName(word) == "mpgrun";
  });
}

/// Position of the program in the words of a launcher: the first one that can
/// be run; 0: none is known.
static size_t programIn(ArrayRef<std::string> command) {
  const char *path = getenv("PATH");
  for (size_t at = 1; at < command.size(); ++at)
    if (command[at][0] != '-' &&
        is_contained(
            {ProgramKind::dynamic, ProgramKind::staticProgram,
             ProgramKind::script},
            findProgram(command[at], path ? path : "/usr/bin:/bin").kind))
      return at;
  return 0;
}

std::string mpg::findForeignLauncher(ArrayRef<std::string> command,
                                     ArrayRef<std::string> options) {
  StringRef launcher = getName(command.front());
  if (!hasWord("srun flux aprun jsrun lrun ccc_mprun", launcher) ||
      startsMpgrun(command))
    return "";
  std::string line = "mpgrun";
  for (const std::string &option : options)
    if (option != "--children" && option != "--")
      line += " " + shellWord(option);
  size_t program = programIn(command);
  for (size_t at = 0; at < command.size(); ++at) {
    if (at && at == program)
      line += " mpgrun";
    line += " " + shellWord(command[at]);
  }
  if (!program)
    line = "mpgrun --compare " + launcher.str() + " ... mpgrun PROGRAM";
  return launcher.str() +
         " starts programs that are not its children: it alone would be "
         "measured. Put a second mpgrun in front of the program, which "
         "measures each rank: " +
         printable(line);
}

// The folder

RankFolder::RankFolder() {
  SmallString<256> here;
  if (std::error_code error = sys::fs::current_path(here)) {
    theProblem = "the current folder is not known: " + error.message();
    return;
  }
  std::string name = (here + "/.mpgcompare-XXXXXX").str();
  if (!mkdtemp(name.data()))
    theProblem = printable(here) + ": " + strerror(errno) +
                 "; the ranks write what they measured there: start mpgrun in "
                 "a folder that all nodes can write";
  else
    thePath = name;
}

RankFolder::~RankFolder() {
  if (!thePath.empty())
    (void)!sys::fs::remove_directories(thePath);
}

std::string RankFolder::addRun() {
  std::string name = thePath + "/" + std::to_string(runs++);
  return sys::fs::create_directory(name) ? "" : name;
}
