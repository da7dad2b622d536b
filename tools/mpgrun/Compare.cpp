// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgrun.h. The report goes to standard output: the program's own output
// is taken and compared, so nothing else is there.

#include "Measure/MachineLoad.h"
#include "Node/NodeMachine.h"
#include "Options.h"
#include "Process/Ranks.h"
#include "Support/Format.h"
#include "mpgrun.h"
#include "mpgrun/Compare/CompareRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <ctime>
#include <sys/random.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static uint32_t anySeed() {
  uint32_t seed;
  if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
    seed = uint32_t(time(nullptr)) ^ uint32_t(getpid());
  return seed;
}

static void describeMachine(Comparison &comparison, const NumaFacts &numa) {
  NodeMachine machine = readMachine(SysTree("/"), numa);
  comparison.processor = machine.processor.valueOr("unknown");
  comparison.kernel = machine.kernelRelease.valueOr("unknown");
  comparison.cpus = machine.cpus.valueOr(0);
}

/// none is the program as it is. If libmpg is in it anyway, linked or preloaded
/// by the user, it must leave all as it is.
static std::vector<std::string> makeEnvironment(const RunOptions &options,
                                                const Program &program,
                                                const std::string &libraryPath,
                                                StringRef mode) {
  if (startsMpgrun(options.command)) // which loads libmpg for its program alone
    return environmentWith({}, /*children=*/true);
  if (mode == "none" || mode == "text") // text: the page cache alone differs
    return environmentWith({{"MPG_MODE", "none"}}, options.children);
  RunOptions ofMode = options;
  if (mode == "copy")
    ofMode.text = mode;
  mode = StringSwitch<StringRef>(mode)
             .Case("interleave", "hugetlb")
             .Case("copy", "thp")
             .Default(mode);
  return environmentWith(libmpgSettings(ofMode, program, libraryPath, mode,
                                        /*stateFd=*/-1),
                         options.children);
}

static ComparePlan makePlan(const RunOptions &options, const Program &program,
                            const std::string &libraryPath,
                            const NumaFacts &numa) {
  ComparePlan plan;
  plan.path = program.path;
  // A traced process would get no rights of others: see ptrace(2).
  plan.trace = !program.isPrivileged && !program.tracesItself;
  plan.showsProgress = !options.quiet;
  plan.isRanked = startsMpgrun(options.command);
  Obstacle obstacle;
  if (!plan.isRanked) // else the command is a launcher
    obstacle = findObstacle(options, program);
  for (const std::string &name : options.compareModes) {
    ModePlan mode;
    mode.name = name;
    mode.usesLibmpg = name != "none" && name != "text";
    if (!plan.isRanked && is_contained(options.compareModes, "text"))
      mode.code = name == "text" ? CodePages::large : CodePages::small;
    mode.environment = makeEnvironment(options, program, libraryPath, name);
    if (mode.usesLibmpg && obstacle.isWhole)
      mode.missing = obstacle.text;
    if (name == "text" && plan.isRanked)
      mode.missing = "not run: it is for a program on this node";
    if (name == "interleave") {
      for (const NumaNode *node : numa.usable())
        mode.interleaveNodes.push_back(node->id);
      if (plan.isRanked)
        mode.missing = "not run: it is for a program on this node";
      else if (mode.interleaveNodes.size() < 2)
        mode.missing = "not run: one NUMA node";
    }
    plan.modes.push_back(std::move(mode));
  }
  return plan;
}

int mpg::runComparison(const RunOptions &options, const Program &program,
                       const std::string &libraryPath) {
  if (worldRank() != "0") {
    error() << "--compare was started as rank " << printable(worldRank())
            << " of a job; each rank would run the program at times of its "
               "own. Put mpgrun in front of the launcher, with --children\n";
    return exitOwnError;
  }
  if (!canWriteReports(options))
    return exitOwnError;
  if (std::string why = findForeignLauncher(options.command, options.typed);
      !why.empty()) {
    error() << why << "\n";
    return exitOwnError;
  }
  NumaFacts numa = readNumaFacts(SysTree("/"));
  ComparePlan plan = makePlan(options, program, libraryPath, numa);
  Comparison comparison;
  comparison.command = options.command;
  comparison.version = MPG_VERSION;
  comparison.date = utcNow();
  describeMachine(comparison, numa);
  comparison.metric = options.metric;
  constexpr unsigned firstRounds = 7, maxRounds = 28;
  comparison.rounds = options.rounds ? options.rounds : firstRounds;
  plan.maxRounds = options.rounds ? 0 : maxRounds;
  comparison.seed = options.seed ? *options.seed : anySeed();
  Obstacle obstacle;
  if (!plan.isRanked)
    obstacle = findObstacle(options, program);
  if (!obstacle.text.empty() && !obstacle.isWhole)
    comparison.notes.push_back(obstacle.text);
  CompareEnd end = driveComparison(plan, comparison);
  if (end.interruptedBy && !end.hasReport) {
    error() << "interrupted before the first round was finished: there is no "
               "report\n";
    return 128 + end.interruptedBy;
  }
  if (end.execError)
    return refuseProgram(options, program, end.execError);
  if (!end.error.empty()) {
    error() << end.error << "\n";
    return exitOwnError;
  }
  if (!writeReports(
          options, [&](raw_ostream &out) { writeCompareHtml(out, comparison); },
          [&](raw_ostream &out) { writeCompareJson(out, comparison); },
          [&](raw_ostream &out) { writeCompareText(out, comparison); }))
    return exitOwnError;
  if (end.interruptedBy)
    return 128 + end.interruptedBy;
  return comparison.failure.empty() ? 0 : exitNothingCompared;
}
