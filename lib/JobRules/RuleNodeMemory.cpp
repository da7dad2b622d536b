// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG226: the processes that a node gets, all starting at once, against the
// memory that the job has there. MPG140 asks the same of one process.

#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

/// What 32 GiB of HBM leave for a job. HW:a64fx-node-memory
static constexpr uint64_t fugakuMemoryBytes = uint64_t(28) << 30;

namespace {
struct Limit {
  uint64_t bytes;
  const char *source;
};
} // namespace

static std::optional<Limit> limitOf(const JobContext &job) {
  if (job.settings.memoryBytes)
    return Limit{*job.settings.memoryBytes, "--memory"};
  // A job may ask for more than a node of A64FX has; then it does not start.
  if (job.script.nodeMemoryBytes)
    return Limit{*job.script.nodeMemoryBytes, "the script"};
  if (job.target == Target::fugaku)
    return Limit{fugakuMemoryBytes, "what a node of 32 GiB leaves"};
  return std::nullopt;
}

/// Start-up of one process. HW:startup-copy
static uint64_t peakOf(const JobContext &job, const JobLaunch &launch,
                       const FileReport &report) {
  JobValue policy = job.valueOf(launch, "XOS_MMM_L_PAGING_POLICY");
  bool reads = job.target == Target::fugaku || job.target == Target::mpg;
  bool demand = reads && policy.known && policy.text.starts_with("demand:");
  return startupPeakBytes(job.target, startupBytes(report.facts.layout->loads,
                                                   factsHugeBytes,
                                                   /*bssPrepaged=*/!demand));
}

/// One process alone is too much: the program's own report says so.
static bool isSaidAlready(const FileReport &report) {
  return any_of(report.findings, [](const Finding &finding) {
    return finding.id == FindingId::mpg140 && finding.sub == "one-process";
  });
}

static void setFix(Finding &finding, const JobContext &job, uint64_t fitting,
                   const JobValue &policy) {
  std::string fewer =
      fitting
          ? "start at most " + std::to_string(fitting) +
                (fitting == 1 ? " process on a node" : " processes on a node")
          : std::string("allocate the largest arrays at run time");
  bool demand = policy.known && policy.text.starts_with("demand:");
  if (job.target != Target::fugaku || demand || !policy.known) {
    fewer[0] = toUpper(fewer[0]);
    finding.setFix(fewer + ".");
    return;
  }
  finding.setFix("Write this in front of the program, or " + fewer +
                 ":\n  export XOS_MMM_L_PAGING_POLICY=demand:" +
                 policy.text.split(':').second.str());
}

static void checkLaunch(JobContext &job, const JobLaunch &launch,
                        const FileReport &report, const Limit &limit) {
  std::optional<unsigned> ranks = launch.launch.ranksPerNode;
  if (!ranks)
    ranks = job.script.ranksPerNode;
  if (!ranks || *ranks == 0)
    return;
  uint64_t peak = peakOf(job, launch, report);
  uint64_t all = SaturatingMultiply<uint64_t>(peak, *ranks);
  if (all <= limit.bytes)
    return;
  Finding &finding = job.add(FindingId::mpg226, launch.line, launch.conditional,
                             "start-up of " + std::to_string(*ranks) +
                                 (*ranks == 1 ? " process" : " processes") +
                                 " on a node needs " + formatBytes(all) +
                                 ", the job has " + formatBytes(limit.bytes));
  finding.where.symbol = launch.program.text;
  finding.where.bytes = all;
  finding.evidence = formatBytes(peak) + " for each process of " +
                     launchText(launch) + "; " + formatBytes(limit.bytes) +
                     ": " + limit.source;
  setFix(finding, job, peak ? limit.bytes / peak : 0,
         job.valueOf(launch, "XOS_MMM_L_PAGING_POLICY"));
}

void mpg::checkNodeMemory(JobContext &job) {
  std::optional<Limit> limit = limitOf(job);
  if (!job.wants(FindingId::mpg226) || !limit)
    return;
  for (const JobLaunch *launch : job.launches) {
    const FileReport *report = job.reportOf(*launch);
    if (report && report->facts.layout && job.largePages(*launch) &&
        job.mayLoadLibmpg(*launch) && !isSaidAlready(*report))
      checkLaunch(job, *launch, *report, *limit);
  }
}
