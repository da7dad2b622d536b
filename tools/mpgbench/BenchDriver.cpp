// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BenchDriver.h. Each round measures every point once, all experiments
// mixed, in another order. So a slow drift of the machine (its clock, its
// neighbours) hits all points alike, and values of one round can be compared as
// pairs. The first round does not count: it brings the program, the pool of
// large pages and, in a virtual machine, the host's memory to where they stay.

#include "mpgbench/BenchDriver.h"
#include "Measure/MachineLoad.h"
#include "Measure/Statistics.h"
#include "Node/NodeMachine.h"
#include "Support/Format.h"
#include "mpg/kernels.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/WorkerProcess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

// The machine in a few lines, for every report: enough to compare its numbers
// with another machine's. Names neither the host nor its user.

static std::string getText(const Fact<std::string> &fact) {
  return fact ? *fact : "unknown";
}

/// "L1D 48 KiB, L2 1 MiB".
static std::string describeCaches(const SysTree &tree) {
  std::string text;
  for (const DataCache &cache : readDataCaches(tree)) {
    if (cache.level == 0 || cache.size.empty())
      continue;
    std::optional<uint64_t> bytes = parseBytes(cache.size);
    text += (text.empty() ? "L" : ", L") + std::to_string(cache.level) +
            (cache.level == 1 ? "D " : " ") +
            (bytes ? formatBytes(*bytes) : cache.size);
  }
  return text.empty() ? "unknown" : text;
}

static std::string describePools(const Node &node) {
  if (!node.pages.pools)
    return "unknown";
  std::string text;
  for (const HugePool &pool : *node.pages.pools) {
    uint64_t total = pool.total.valueOr(0);
    text += (text.empty() ? "" : ", ") + formatBytes(pool.pageBytes) + ": " +
            std::to_string(pool.free.valueOr(0)) + " of " +
            std::to_string(total) + " pages free";
  }
  return text.empty() ? "none" : text;
}

/// Name and value of what matters about this machine, for the report.
static Parameters describeMachine(const Node &node) {
  const NodeMachine &machine = node.machine;
  std::string processor =
      machine.architecture + ", " + getText(machine.processor);
  if (!machine.virtualised.empty())
    processor += ", virtual machine (" + machine.virtualised + ")";
  Parameters result = {
      {"processor", processor},
      {"CPUs", machine.cpus ? std::to_string(*machine.cpus) : "unknown"},
      {"allowed CPUs", node.numa.allowedCpus
                           ? formatList(*node.numa.allowedCpus)
                           : std::string("unknown")},
      {"NUMA nodes", node.numa.nodes.empty()
                         ? std::string("unknown")
                         : std::to_string(node.numa.nodes.size())},
      {"caches", describeCaches(SysTree("/"))},
      {"memory", node.pages.memoryBytes ? formatBytes(*node.pages.memoryBytes)
                                        : std::string("unknown")},
      {"kernel", "Linux " + getText(machine.kernelRelease)},
      {"base page", formatBytes(node.pages.baseBytes.valueOr(0))},
      {"pools", describePools(node)},
      {"transparent huge pages", getText(node.transparent.enabled) +
                                     ", defrag " +
                                     getText(node.transparent.defrag)},
      {"kernels", mpg_kernel_variant()}};
  for (const std::string &governor : machine.governors)
    result.push_back({"clock governor", governor});
  return result;
}

// The plan

/// A worker never gets more than this part of the memory that is free.
static constexpr unsigned memoryShare = 2;

static PlanContext makeContext(const Node &node, const DriveOptions &options) {
  uint64_t memory = node.pages.availableBytes.valueOr(1 << 30);
  // Free pages of the pools are not in what the kernel calls available.
  if (node.pages.pools)
    for (const HugePool &pool : *node.pages.pools)
      memory += multiplyCapped(pool.free.valueOr(0), pool.pageBytes);
  if (const GroupLimit *limit = node.cgroups.memory.tightest())
    memory = std::min(memory, limit->leftBytes());
  unsigned cpus = node.machine.cpus.valueOr(1);
  if (node.numa.allowedCpus)
    cpus = unsigned(node.numa.allowedCpus.value->size());
  return {node, std::max(cpus, 1u), options.quick, !options.library.empty(),
          memory / memoryShare};
}

/// Whether \p wanted is \p name or a beginning of it that ends at a parameter.
static bool selects(StringRef wanted, StringRef name) {
  return name == wanted ||
         (name.starts_with(wanted) && name[wanted.size()] == '/');
}

static ExperimentResult planOne(const Experiment &experiment,
                                const PlanContext &context,
                                const std::vector<std::string> &names) {
  ExperimentResult result = {experiment, {}, experiment.guide(), {}};
  for (PlannedPoint &planned : experiment.plan(context)) {
    PointResult point;
    point.name = pointName(experiment.name, planned.parameters);
    if (!names.empty() && none_of(names, [&](StringRef wanted) {
          return selects(wanted, point.name);
        }))
      continue;
    point.parameters = std::move(planned.parameters);
    point.needsRuntime = planned.needsRuntime;
    point.environment = std::move(planned.environment);
    point.missing = std::move(planned.missing);
    if (point.missing.empty() && point.needsRuntime && !context.hasRuntime)
      point.missing = "libmpgrt.so is not there";
    result.points.push_back(std::move(point));
  }
  return result;
}

/// The first of \p names that selects no point of \p run; "" if all do.
static std::string firstUnknown(const std::vector<std::string> &names,
                                const BenchRun &run) {
  for (const std::string &wanted : names) {
    bool isThere = any_of(run.experiments, [&](const ExperimentResult &one) {
      return any_of(one.points, [&](const PointResult &point) {
        return selects(wanted, point.name);
      });
    });
    if (!isThere)
      return wanted;
  }
  return "";
}

Expected<BenchRun> mpg::planExperiments(const DriveOptions &options,
                                        const Node &node) {
  BenchRun run;
  run.version = MPG_VERSION;
  run.date = utcNow();
  run.machine = describeMachine(node);
  run.quick = options.quick;
  run.repetitions = options.repetitions;
  run.seed = options.seed;
  PlanContext context = makeContext(node, options);
  for (const Experiment *experiment : experimentList) {
    ExperimentResult planned = planOne(*experiment, context, options.names);
    if (!planned.points.empty())
      run.experiments.push_back(std::move(planned));
  }
  std::string unknown = firstUnknown(options.names, run);
  if (!unknown.empty())
    return createStringError(
        std::make_error_code(std::errc::invalid_argument),
        "'" + printable(unknown) +
            "' is neither an experiment nor the start of a point's name; "
            "'mpgbench "
            "list' and 'mpgbench list EXPERIMENT' print them");
  return run;
}

// Rounds

/// Null if there is none.
static const Experiment *findExperiment(StringRef name) {
  for (const Experiment *experiment : experimentList)
    if (experiment->name == name)
      return experiment;
  return nullptr;
}

namespace {

/// One point on its way: where its result goes, and how it is measured.
struct Job {
  PointResult *result;
  WorkerCommand command;
  double othersSeconds = 0, stealSeconds = 0; ///< CPU time while it ran
  double seconds = 0;
};

class Driver {
public:
  Driver(BenchRun &run, const DriveOptions &options)
      : run(run), options(options), random(options.seed) {}
  void drive();

private:
  void makeJobs();
  void measure(Job &job, unsigned round);
  bool isLate() const;
  bool hasTimeFor(unsigned round) const;
  void measureRound(unsigned round);
  void finish();

  BenchRun &run;
  const DriveOptions &options;
  std::mt19937_64 random;
  std::vector<Job> jobs;
  const double startSeconds = nowSeconds();
};

} // namespace

/// A worker that takes this long hangs.
static unsigned limitSeconds(bool quick) { return quick ? 60 : 600; }

void Driver::makeJobs() {
  for (ExperimentResult &experiment : run.experiments)
    for (PointResult &point : experiment.points) {
      if (!point.missing.empty())
        continue;
      Job job = {&point, {}};
      job.command.program = options.self;
      job.command.arguments = {options.self, "worker", experiment.name};
      for (const auto &[name, value] : point.parameters)
        job.command.arguments.push_back(name + "=" + value);
      job.command.environment = workerEnvironment(
          point.environment, point.needsRuntime ? options.library : "");
      job.command.limitSeconds = limitSeconds(options.quick);
      jobs.push_back(std::move(job));
    }
}

void Driver::measure(Job &job, unsigned round) {
  std::optional<LoadSample> before = readLoad();
  WorkerResult result = runWorkerProcess(job.command);
  std::optional<LoadSample> after = readLoad();
  if (areWorkersEnded()) // it was killed
    return;
  if (!result.error.empty()) {
    job.result->missing = std::move(result.error);
    return;
  }
  if (round == 0)
    return;
  job.result->samples.push_back(std::move(result));
  job.result->rounds.push_back(round);
  if (before && after) {
    LoadBetween load = loadBetween(*before, *after);
    job.seconds += load.seconds;
    job.othersSeconds += load.othersCpus * load.seconds;
    job.stealSeconds += load.stealCpus * load.seconds;
  }
}

/// Whether others used the machine while \p job was measured. The kernel counts
/// CPU time in ticks, so each look may be off by one on each CPU; these errors
/// add up as errors of chance do. Without that allowance one tick would condemn
/// a worker of 50 ms.
static bool wasBusy(const Job &job) {
  constexpr double tickSeconds = 0.01; // USER_HZ
  if (job.seconds <= 0)
    return false;
  double looks = double(job.result->samples.size());
  double cpus = double(sysconf(_SC_NPROCESSORS_ONLN));
  double allowance = tickSeconds * std::sqrt(looks * cpus);
  LoadBetween load;
  load.othersCpus = (job.othersSeconds - allowance) / job.seconds;
  load.stealCpus = (job.stealSeconds - allowance) / job.seconds;
  return load.isBusy();
}

/// The most that all threads of \p mix moved: the limit of the memory's bus; 0
/// if it was not measured.
static double busLimit(const ExperimentResult &mix) {
  double limit = 0;
  for (const PointResult &point : mix.points)
    for (const WorkerResult &sample : point.samples)
      if (auto rate = sample.figures.find("bus_gbs");
          rate != sample.figures.end())
        limit = std::max(limit, rate->second);
  return limit;
}

/// Points of \p result that cannot be: more than the bus gives was read out of
/// a cache. Nothing is certain if the machine was busy at one of the two.
static void reportImpossible(ExperimentResult &result, double limit,
                             bool isLimitBusy) {
  constexpr double tolerance = 1.1;
  for (const PointResult &point : result.points) {
    if (point.summary.median <= tolerance * limit)
      continue;
    bool isBusy = isLimitBusy || point.isBusy;
    result.conclusions.push_back(
        {isBusy ? Conclusion::Kind::undecided : Conclusion::Kind::no,
         formatv("{0}: {1:f1} GB/s are more than the {2:f1} that mix found "
                 "the memory to give: {3}",
                 point.name, point.summary.median, limit,
                 isBusy ? "the machine was busy, so this is not a verdict"
                        : "it measured a cache")
             .str(),
         {}});
  }
}

void Driver::finish() {
  for (Job &job : jobs) {
    PointResult &point = *job.result;
    point.summary = summarise(getValues(point));
    point.isBusy = wasBusy(job);
  }
  for (ExperimentResult &experiment : run.experiments) {
    findExperiment(experiment.name)->conclude(experiment);
    erase_if(experiment.conclusions, [](const Conclusion &conclusion) {
      return !conclusion.isPlanned;
    });
  }
  for (const ExperimentResult &mix : run.experiments)
    if (double limit = mix.name == "mix" ? busLimit(mix) : 0)
      for (ExperimentResult &experiment : run.experiments)
        if (experiment.name == "stride" || experiment.name == "triad")
          reportImpossible(experiment, limit,
                           any_of(mix.points, [](const PointResult &point) {
                             return point.isBusy;
                           }));
}

bool Driver::isLate() const {
  return options.isLimitStrict &&
         nowSeconds() - startSeconds > options.limitSeconds;
}

/// Rounds take the same time each, the warm-up being number 0.
bool Driver::hasTimeFor(unsigned round) const {
  return options.limitSeconds == 0 || round < 2 ||
         (nowSeconds() - startSeconds) / round * (round + 1) <=
             options.limitSeconds;
}

void Driver::measureRound(unsigned round) {
  if (options.showsProgress)
    errs() << "mpgbench: "
           << (round == 0 ? std::string("warm-up")
                          : "round " + std::to_string(round) + " of " +
                                std::to_string(options.repetitions))
           << ", " << jobs.size() << " points\n";
  for (size_t index : randomOrder(jobs.size(), random))
    // One that failed will fail again, and hanging ones take minutes.
    if (jobs[index].result->missing.empty() && !areWorkersEnded() && !isLate())
      measure(jobs[index], round);
}

void Driver::drive() {
  makeJobs();
  std::optional<LoadSample> before = readLoad();
  unsigned round = 0;
  for (; round <= options.repetitions && !areWorkersEnded() && !isLate() &&
         hasTimeFor(round);
       ++round)
    measureRound(round);
  if (round <= options.repetitions && !areWorkersEnded())
    errs() << formatv("mpgbench: {0} rounds would take longer than {1} s: "
                      "stopped before round {2}\n",
                      options.repetitions, options.limitSeconds, round);
  std::optional<LoadSample> after = readLoad();
  if (before && after)
    run.load = loadBetween(*before, *after);
  finish();
}

void mpg::driveExperiments(BenchRun &run, const DriveOptions &options) {
  Driver(run, options).drive();
}

int mpg::runWorker(ArrayRef<const char *> words) {
  const Experiment *experiment =
      words.empty() ? nullptr : findExperiment(words[0]);
  if (!experiment) {
    errs() << "no such experiment\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL); // what it says would not be read
  Parameters parameters;
  for (StringRef word : words.drop_front()) {
    auto [name, value] = word.split('=');
    parameters.push_back({name.str(), value.str()});
  }
  WorkerResult result = experiment->measure(parameters);
  // With an error, such as other pages than those of the point, it is wrong.
  if (!result.error.empty())
    result.value = 0;
  writeWorkerResult(outs(), result);
  outs().flush();
  return 0;
}
