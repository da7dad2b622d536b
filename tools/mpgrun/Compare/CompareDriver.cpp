// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each round runs every mode once, in another order, so a slow drift of the
// machine hits all modes alike and the runs of one round are pairs. The first
// round does not count: it brings the program's files into memory, and it
// inspects the program's memory, which takes time.

#include "Measure/Statistics.h"
#include "Process/StateFile.h"
#include "Support/Format.h"
#include "mpgrun/Compare/CompareRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <cstring>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

class CompareDriver {
public:
  CompareDriver(const ComparePlan &plan, Comparison &comparison)
      : plan(plan), comparison(comparison), random(comparison.seed),
        firstOutputs(plan.modes.size()) {}
  CompareEnd drive();

private:
  bool runAll();
  void addRounds();
  void readLoadSince(const std::optional<LoadSample> &before);
  void keepFinished(unsigned rounds);
  bool runRound(unsigned round);
  bool runMode(size_t index, unsigned round);
  RunOutcome runWarmUp(RunCommand &command, const ModePlan &how,
                       ModeResult &mode);
  RunOutcome runRanks(RunCommand &command, ModeResult &mode, unsigned round);
  bool accept(RunOutcome outcome, size_t index, OutputFiles files);
  void sumUp();
  void printPlan() const;
  void printProgress(unsigned round) const;
  void printEstimate(double firstSeconds) const;
  unsigned runsInRound() const;

  const ComparePlan &plan;
  Comparison &comparison;
  std::mt19937_64 random;
  SignalGate gate;
  CompareInput input;
  std::vector<OutputFiles> firstOutputs; ///< of each mode's warm-up
  std::optional<RankFolder> folder;
  std::vector<unsigned> cpus = allowedCpus();
  double started = 0;
  CompareEnd end;
};

} // namespace

// One run

/// The load of a comparison of ranks is that of their CPUs while they ran.
static void addLoad(Comparison &comparison, const RunSample &sample,
                    const MergedRanks &ranks) {
  LoadBetween &load = comparison.load;
  double seconds = load.seconds + sample.wallSeconds;
  if (seconds <= 0)
    return;
  load.othersCpus =
      (load.othersCpus * load.seconds + ranks.othersSeconds) / seconds;
  load.stealCpus =
      (load.stealCpus * load.seconds + ranks.stealSeconds) / seconds;
  load.seconds = seconds;
  comparison.isLoadKnown = true;
}

/// Also reads the program's memory, which takes time.
RunOutcome CompareDriver::runWarmUp(RunCommand &command, const ModePlan &how,
                                    ModeResult &mode) {
  RunReport report;
  int stateFd = mode.usesLibmpg ? makeStateFile() : -1;
  if (stateFd >= 0)
    command.environment.push_back("MPG_STATE_FD=" + std::to_string(stateFd));
  auto inspect = [&](pid_t pid) {
    if (auto memory = readProgramMemory(pid, stateFd))
      addMemory(*memory, report);
    mode.memory.peakRssBytes = readPeakRss(pid);
  };
  if (plan.trace)
    command.atExit = inspect;
  RunOutcome outcome = runOnce(command, gate);
  if (std::unique_ptr<mpg_state> state = readStateFile(stateFd))
    addState(report, *state);
  if (stateFd >= 0)
    close(stateFd);
  if (how.code == CodePages::large)
    explainText(report, plan.path, "auto");
  else if (how.code)
    noteCodePages(comparison, report, mode);
  fillMemory(mode.memory, report);
  return outcome;
}

/// Each rank's own mpgrun measures.
RunOutcome CompareDriver::runRanks(RunCommand &command, ModeResult &mode,
                                   unsigned round) {
  RankOrder order = {mode.name, folder->addRun(), round == 0};
  command.environment.push_back(std::string(rankVariable) + "=" +
                                rankOrderText(order));
  RunOutcome outcome = runOnce(command, gate);
  std::vector<RankResult> ranks = readRankResults(order.folder);
  if (ranks.empty()) {
    if (outcome.error.empty() && !outcome.execError && !outcome.interruptedBy)
      outcome.error =
          "no rank has written what it measured into " +
          printable(folder->path()) +
          ": all nodes must see that folder, and the launcher "
          "must pass on the environment (srun --export=ALL)" +
          (outcome.sample.waitStatus
               ? "; it ended with " + describeStatus(outcome.sample.waitStatus)
               : "");
    return outcome;
  }
  MergedRanks all = mergeRanks(ranks);
  all.sample.waitStatus = outcome.sample.waitStatus;
  outcome.leftProcesses = false; // of the launcher, whose time does not count
  outcome.sample = std::move(all.sample);
  if (round == 0)
    mode.memory = std::move(all.memory);
  else
    addLoad(comparison, outcome.sample, all);
  return outcome;
}

/// False: it is over.
bool CompareDriver::accept(RunOutcome outcome, size_t index,
                           OutputFiles files) {
  end.error = outcome.error;
  end.execError = outcome.execError;
  end.interruptedBy = outcome.interruptedBy;
  if (!end.error.empty() || end.execError || end.interruptedBy)
    return false;
  RunSample &sample = outcome.sample;
  for (unsigned stream : {0, 1})
    sample.digests[stream] = digestOutput(files[stream].get(), stream == 1);
  if (sample.waitStatus)
    sample.lastWords = lastLines(files[1].get(), 3);
  if (comparison.metric)
    sample.metric =
        readMetric(*comparison.metric, files[0].get(), files[1].get());
  rusage own;
  getrusage(RUSAGE_SELF, &own);
  if (sample.peakRssBytes <= uint64_t(own.ru_maxrss) << 10)
    sample.peakRssBytes = 0;
  if (sample.round == 0)
    firstOutputs[index] = std::move(files);
  if (outcome.leftProcesses && !comparison.leftProcesses) {
    comparison.notes.push_back("processes that the program had started were "
                               "still there after its end, beside other runs");
    comparison.leftProcesses = true;
  }
  comparison.modes[index].samples.push_back(std::move(sample));
  return true;
}

bool CompareDriver::runMode(size_t index, unsigned round) {
  OutputFiles files = {makeOutputFile(), makeOutputFile()};
  OwnedFd in = input.open();
  if (!files[0] || !files[1] || !in) {
    end.error = std::string("no file for the program's input or output: ") +
                strerror(errno);
    return false;
  }
  const ModePlan &mode = plan.modes[index];
  RunCommand command;
  command.path = plan.path;
  command.arguments = comparison.command;
  command.environment = mode.environment;
  command.interleaveNodes = mode.interleaveNodes;
  command.input = in.get();
  command.output = files[0].get();
  command.messages = files[1].get();
  ModeResult &result = comparison.modes[index];
  if (mode.code)
    placeText(plan.path, *mode.code);
  StallCounts stalls = readStallCounts(SysTree("/"));
  RunOutcome outcome = plan.isRanked ? runRanks(command, result, round)
                       : round == 0  ? runWarmUp(command, mode, result)
                                     : runOnce(command, gate);
  outcome.sample.round = round;
  if (!plan.isRanked) // those of this node are not the ranks'
    outcome.sample.stalls =
        stallsBetween(stalls, readStallCounts(SysTree("/")));
  return accept(std::move(outcome), index, std::move(files));
}

// Rounds

unsigned CompareDriver::runsInRound() const {
  return unsigned(count_if(comparison.modes, [](const ModeResult &mode) {
    return mode.missing.empty();
  }));
}

/// Before the first run, when its time is not known.
void CompareDriver::printPlan() const {
  if (!plan.showsProgress)
    return;
  unsigned each = runsInRound();
  errs() << "mpgrun: " << each * (comparison.rounds + 1)
         << " runs: a warm-up and " << countWord(comparison.rounds, "round")
         << " of " << each << " modes";
  if (plan.maxRounds)
    errs() << "; up to " << plan.maxRounds << " rounds while undecided";
  errs() << "\n";
}

/// "0.4 s", "40 s", "12 min", "3 h".
static std::string roughTime(double seconds) {
  if (seconds < 2)
    return formatv("{0:f1} s", seconds);
  if (seconds < 100)
    return std::to_string(unsigned(seconds + 0.5)) + " s";
  if (seconds < 100 * 60)
    return std::to_string(unsigned(seconds / 60 + 0.5)) + " min";
  return std::to_string(unsigned(seconds / 3600 + 0.5)) + " h";
}

/// After the first run.
void CompareDriver::printEstimate(double firstSeconds) const {
  double all = firstSeconds * runsInRound() * (comparison.rounds + 1);
  if (plan.showsProgress && all >= 1)
    errs() << "mpgrun: the first run took " << roughTime(firstSeconds)
           << ", all of them take about " << roughTime(all) << "\n";
}

void CompareDriver::printProgress(unsigned round) const {
  if (!plan.showsProgress || round == 0)
    return;
  errs() << "mpgrun: round " << round << " of " << comparison.rounds;
  double left =
      (nowSeconds() - started) / round * (comparison.rounds + 1 - round);
  if (left >= 1)
    errs() << ", about " << roughTime(left) << " left";
  errs() << "\n";
}

bool CompareDriver::runRound(unsigned round) {
  printProgress(round);
  bool isFirst = round == 0;
  for (size_t index : randomOrder(plan.modes.size(), random)) {
    if (!comparison.modes[index].missing.empty())
      continue;
    double start = nowSeconds(); // with what a launcher takes
    if (!runMode(index, round))
      return false;
    if (isFirst)
      printEstimate(nowSeconds() - start);
    isFirst = false;
  }
  judgeRound(comparison);
  return true;
}

// After the rounds

void CompareDriver::sumUp() {
  for (ModeResult &mode : comparison.modes) {
    uint64_t rss = uint64_t(summarise(mode.values([](const RunSample &sample) {
                              return sample.peakRssBytes;
                            })).median);
    if (rss == 0)
      rss = mode.memory.peakRssBytes;
    if (rss != 0)
      mode.peakBytes = rss + mode.memory.peakHugetlbBytes;
  }
}

/// After an interruption: what was measured until then, round by round.
void CompareDriver::keepFinished(unsigned rounds) {
  comparison.notes.push_back("interrupted after " + std::to_string(rounds) +
                             " of " + std::to_string(comparison.rounds) +
                             " rounds");
  comparison.rounds = rounds;
  for (ModeResult &mode : comparison.modes)
    erase_if(mode.samples,
             [&](const RunSample &sample) { return sample.round > rounds; });
}

/// As many again, if that may decide.
void CompareDriver::addRounds() {
  if (comparison.rounds >= plan.maxRounds || isDecided(comparison))
    return;
  unsigned done = comparison.rounds;
  comparison.rounds = std::min(2 * done, plan.maxRounds);
  if (plan.showsProgress)
    errs() << "mpgrun: undecided after " << done
           << " rounds: " << comparison.rounds - done << " more\n";
}

/// Ranks measure their load themselves.
void CompareDriver::readLoadSince(const std::optional<LoadSample> &before) {
  if (plan.isRanked)
    return;
  std::optional<LoadSample> after = readLoad(cpus);
  comparison.isLoadKnown = before && after;
  if (comparison.isLoadKnown)
    comparison.load = loadBetween(*before, *after);
}

/// False: it ended before there was a result.
bool CompareDriver::runAll() {
  std::optional<LoadSample> before;
  started = nowSeconds();
  for (unsigned round = 0;
       round <= comparison.rounds && comparison.failure.empty(); ++round) {
    if (round == 1)
      before = readLoad(cpus);
    if (!runRound(round)) {
      if (!end.interruptedBy || round < 2)
        return false;
      keepFinished(round - 1);
      break;
    }
    if (round < comparison.rounds || !comparison.failure.empty())
      continue;
    readLoadSince(before);
    addRounds();
  }
  readLoadSince(before);
  return true;
}

CompareEnd CompareDriver::drive() {
  for (const ModePlan &mode : plan.modes) {
    ModeResult result;
    result.name = mode.name;
    result.usesLibmpg = mode.usesLibmpg;
    result.missing = mode.missing;
    comparison.modes.push_back(std::move(result));
  }
  if (input.isReplaced())
    comparison.notes.push_back("standard input is not a file that can be read "
                               "again: the program reads /dev/null");
  checkModesLeft(comparison);
  if (!comparison.failure.empty())
    return end;
  if (plan.isRanked) {
    folder.emplace();
    end.error = folder->problem();
    if (!end.error.empty())
      return end;
  }
  printPlan();
  if (!runAll())
    return end;
  if (comparison.failure.empty())
    compareOutputs(comparison, firstOutputs);
  sumUp();
  end.hasReport = true;
  return end;
}

CompareEnd mpg::driveComparison(const ComparePlan &plan,
                                Comparison &comparison) {
  return CompareDriver(plan, comparison).drive();
}
