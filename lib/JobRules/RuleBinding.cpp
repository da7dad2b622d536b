// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG237: binding that comes too late, or reaches the wrong process. Where
// memory lies is decided when the program starts: with prepage all of it is
// placed before main.

#include "JobRules/RuleCpus.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static bool isBinder(const JobCommand &launcher) {
  StringRef name = baseName(launcher.words[0].text);
  return name == "numactl" || name == "taskset";
}

static bool startsRanks(const JobCommand &launcher) {
  StringRef name = baseName(launcher.words[0].text);
  return name == "mpiexec" || name == "mpirun" || name == "srun" ||
         name == "mpiexec.hydra";
}

/// "numactl -m 4 mpiexec ./app" binds mpiexec.
static void checkOrder(JobContext &job, const JobLaunch &launch) {
  const JobCommand *binder = nullptr;
  for (const JobCommand &launcher : launch.launchers) {
    if (launcher.words.empty())
      continue;
    if (isBinder(launcher)) {
      binder = &launcher;
      continue;
    }
    if (!binder || !startsRanks(launcher))
      continue;
    StringRef name = baseName(launcher.words[0].text);
    StringRef bound = baseName(binder->words[0].text);
    Finding &finding =
        job.add(FindingId::mpg237, launch.line, launch.conditional,
                bound + " stands in front of " + name +
                    ": it binds that, not the processes that it starts");
    finding.sub = "order";
    finding.where.symbol = bound.str();
    finding.evidence = launchText(launch);
    finding.setFix(writeInstead(commandText(launcher.words) + " " +
                                commandText(binder->words) + " " +
                                launch.program.text));
    return;
  }
}

/// All threads of the node, and the memory of one group.
static void checkOneNode(JobContext &job, const JobLaunch &launch) {
  unsigned threads = launch.launch.threads.value_or(0);
  for (const JobCommand &launcher : launch.launchers) {
    if (launcher.words.empty() || baseName(launcher.words[0].text) != "numactl")
      continue;
    auto nodes = parseNumbers(optionValue(launcher, {"--membind", "-m"}));
    if (!nodes || nodes->count * coresOfGroup >= threads)
      continue;
    Finding &finding =
        job.add(FindingId::mpg237, launch.line, launch.conditional,
                std::to_string(threads) + " threads use the memory of " +
                    (nodes->count == 1 ? "one core memory group"
                                       : std::to_string(nodes->count) +
                                             " core memory groups"));
    finding.sub = "few-nodes";
    finding.where.symbol = "numactl";
    finding.evidence = launchText(launch);
    finding.cost = "The other groups read everything over the ring: published "
                   "for 48 threads, 93 GB/s instead of 804 GB/s.";
    finding.setFix(
        job.numbering == Numbering::fx700
            ? "Name all nodes (-m 0-3), or let each thread's node have it "
              "(-l)."
            : "Name all nodes (-m 4-7), or let each thread's node have it "
              "(-l).");
  }
}

/// "taskset -cp 12-23 $PID": the process has started already. The shell itself
/// is another matter: its children inherit it.
static void checkLate(JobContext &job, const JobCommand &command) {
  if (command.words.size() < 3)
    return;
  StringRef name = baseName(command.words[0].text);
  StringRef options = command.words[1].text;
  bool late = name == "migratepages" ||
              (name == "taskset" && options.starts_with("-") &&
               !options.starts_with("--") && options.contains('p'));
  if (!late || StringRef(command.words.back().text) == "$$")
    return;
  Finding &finding =
      job.add(FindingId::mpg237, command.line, command.conditional,
              name + " binds a process that already runs");
  finding.sub = "too-late";
  finding.where.symbol = name.str();
  finding.evidence = commandText(command.words);
  finding.setFix("Start the program bound: numactl -C CPUS -m NODES PROGRAM.");
}

void mpg::checkBinding(JobContext &job) {
  if (!job.wants(FindingId::mpg237))
    return;
  for (const JobLaunch *launch : job.launches) {
    checkOrder(job, *launch);
    if (job.target == Target::fugaku)
      checkOneNode(job, *launch);
  }
  for (const JobCommand &command : job.script.commands)
    checkLate(job, command);
}
