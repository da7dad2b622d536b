// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See mpgrun.h: this mpgrun is one rank of a comparison.

#include "Measure/Counters.h"
#include "Measure/MachineLoad.h"
#include "Options.h"
#include "Process/Ranks.h"
#include "Process/StateFile.h"
#include "Process/Supervisor.h"
#include "Support/Format.h"
#include "mpgrun.h"
#include "mpgrun/Compare/CompareRun.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

static void fillLoad(RankResult &rank, const std::optional<LoadSample> &before,
                     const std::optional<LoadSample> &after) {
  if (!before || !after)
    return;
  LoadBetween load = loadBetween(*before, *after);
  rank.othersSeconds = load.othersCpus * load.seconds;
  rank.stealSeconds = load.stealCpus * load.seconds;
}

int mpg::runComparedRank(const RankOrder &order, const RunOptions &options,
                         const Program &program,
                         const std::string &libraryPath) {
  unsetenv(rankVariable);
  RunReport report;
  bool usesLibmpg = order.mode != "none";
  int stateFd = usesLibmpg && order.looks ? makeStateFile() : -1;
  Settings settings = {{"MPG_MODE", "none"}};
  if (usesLibmpg)
    settings =
        libmpgSettings(options, program, libraryPath, order.mode, stateFd);
  auto inspectAtEnd = [&](pid_t pid) {
    if (auto memory = readProgramMemory(pid, stateFd))
      addMemory(*memory, report);
  };
  RankResult rank;
  rank.host = hostName();
  std::vector<unsigned> cpus = allowedCpus();
  for (unsigned cpu : cpus)
    rank.cpus += (rank.cpus.empty() ? "" : ",") + std::to_string(cpu);
  std::optional<LoadSample> before = readLoad(cpus);
  std::optional<Counters> counters;
  RunLooks looks;
  auto count = [&](pid_t pid, bool) { counters.emplace(pid, /*onExec=*/true); };
  looks.atStart = count;
  double start = nowSeconds();
  SupervisedRun run = runSupervised(program.path, options.command,
                                    environmentWith(settings, options.children),
                                    order.looks && !program.isPrivileged &&
                                        !program.tracesItself,
                                    inspectAtEnd, looks);
  rank.sample.wallSeconds = nowSeconds() - start;
  if (!run.error.empty()) {
    error() << run.error << "\n";
    return exitOwnError;
  }
  if (run.execError)
    return refuseProgram(options, program, run.execError);
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  fillUsage(rank.sample, usage);
  if (counters)
    rank.sample.counters = counters->read();
  fillLoad(rank, before, readLoad(cpus));
  rank.sample.waitStatus = run.waitStatus;
  if (std::unique_ptr<mpg_state> state = readStateFile(stateFd))
    addState(report, *state);
  fillMemory(rank.memory, report);
  if (std::string problem = writeRankResult(order, rank); !problem.empty())
    error() << printable(problem) << "\n";
  errs().flush();
  endLike(run.waitStatus);
}
