// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which points are measured: the plans of the experiments for this machine, and
// of those what the command line names.

#include "Measure/Clock.h"
#include "Support/Format.h"
#include "mpgbench/Run/BenchDriver.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

/// A worker never gets more than this part of the memory that is free.
static constexpr unsigned memoryShare = 2;

static PlanContext contextOf(const Node &node, const DriveOptions &options) {
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
  ExperimentResult result;
  result.name = experiment.name.str();
  result.title = experiment.title.str();
  result.unit = experiment.unit.str();
  result.higherIsBetter = experiment.higherIsBetter;
  result.accounting = experiment.accounting.str();
  result.xParameter = experiment.xParameter.str();
  result.seriesParameter = experiment.seriesParameter.str();
  result.xIsNumber = experiment.xIsNumber;
  result.guide = experiment.guide();
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

/// What of \p names no point of \p run is selected by; "" if none.
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
  PlanContext context = contextOf(node, options);
  for (const Experiment *experiment : experiments()) {
    ExperimentResult planned = planOne(*experiment, context, options.names);
    if (!planned.points.empty())
      run.experiments.push_back(std::move(planned));
  }
  std::string unknown = firstUnknown(options.names, run);
  if (!unknown.empty())
    return createStringError(
        std::make_error_code(std::errc::invalid_argument),
        "'" + printable(unknown) +
            "' is no experiment and no beginning of a point's name; 'mpgbench "
            "list' and 'mpgbench list EXPERIMENT' print them");
  return run;
}
