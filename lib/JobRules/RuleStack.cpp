// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG234: stack limits with which the process stack does not fit on large
// pages, LPG 2006 and LPG 2007 at run time.

#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr uint64_t largePageBytes = uint64_t(2) << 20;

/// "ulimit -s", "ulimit -Ss", csh's "limit stacksize".
static bool limitsStack(const JobCommand &command) {
  if (command.words.empty() ||
      (command.words[0].text != "ulimit" && command.words[0].text != "limit"))
    return false;
  return any_of(command.words, [](const JobWord &word) {
    StringRef text = word.text;
    return text == "stacksize" || (text.starts_with("-") && text.contains('s'));
  });
}

/// In the order of lines.
static std::vector<const JobCommand *> findLimits(const JobScript &script) {
  std::vector<const JobCommand *> limits;
  for (const JobCommand &command : script.commands)
    if (limitsStack(command))
      limits.push_back(&command);
  return limits;
}

/// The last one in front of \p line; null if there is none.
static const JobCommand *limitBefore(ArrayRef<const JobCommand *> limits,
                                     unsigned line) {
  auto *behind = partition_point(
      limits, [&](const JobCommand *limit) { return limit->line <= line; });
  return behind == limits.begin() ? nullptr : behind[-1];
}

static void report(JobContext &job, const JobLaunch &launch, uint64_t bytes,
                   const JobCommand *limit) {
  bool unlimited = bytes == UINT64_MAX;
  Finding &finding = job.add(
      FindingId::mpg234, limit ? limit->line : launch.line,
      limit && limit->conditional,
      unlimited
          ? "the stack has no limit: mappings lie right above each other, and "
            "the stack may not fit on large pages"
          : "a stack of " + formatBytes(bytes) +
                " is less than one large page");
  finding.sub = unlimited ? "unlimited" : "small";
  finding.where.symbol = "ulimit";
  finding.evidence = limit ? commandText(limit->words) : launchText(launch);
  finding.setFix(
      "Give the stack a limit that it needs and that is a multiple of 2 MiB, "
      "or leave it on normal pages (XOS_MMM_L_LPG_MODE=base):\n  ulimit -s " +
      std::string(unlimited ? "1048576" : "8192"));
}

void mpg::checkStackLimit(JobContext &job) {
  if (!job.wants(FindingId::mpg234))
    return;
  const std::vector<const JobCommand *> limits = findLimits(job.script);
  for (const JobLaunch *launch : job.launches) {
    std::optional<uint64_t> bytes = launch->launch.stackBytes;
    if (bytes && (*bytes == UINT64_MAX || *bytes < largePageBytes) &&
        job.largePages(*launch) && job.mayLoadLibmpg(*launch) &&
        !job.valueOf(*launch, "XOS_MMM_L_LPG_MODE").is("base"))
      report(job, *launch, *bytes, limitBefore(limits, launch->line));
  }
}
