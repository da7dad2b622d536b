// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG223: HUGETLB_FALLBACK=1 without what Fujitsu's library wants for it. A
// user who relies on it has the job killed all the same.

#include "JobRules/RuleContext.h"

using namespace llvm;
using namespace mpg;

static StringRef fieldOf(StringRef policy, unsigned index) {
  while (index--)
    policy = policy.split(':').second;
  return policy.split(':').first;
}

namespace {
/// What is not as it has to be, and the line that would make it so.
struct Missing {
  std::string text;
  std::string name, value;
};
} // namespace

static std::vector<Missing> missingFor(const JobContext &job,
                                       const JobLaunch &launch) {
  std::vector<Missing> missing;
  JobValue policy = job.valueOf(launch, "XOS_MMM_L_PAGING_POLICY");
  if (policy.known && fieldOf(policy.text, 2) != "prepage")
    missing.push_back(
        {"XOS_MMM_L_PAGING_POLICY is " + policy.text.str() +
             ", not *:*:prepage",
         "XOS_MMM_L_PAGING_POLICY",
         (fieldOf(policy.text, 0) + ":" + fieldOf(policy.text, 1) + ":prepage")
             .str()});
  // ARENA_FREE=2 makes both of these 1.
  if (job.valueOf(launch, "XOS_MMM_L_ARENA_FREE").is("2"))
    return missing;
  for (const char *name :
       {"XOS_MMM_L_ARENA_LOCK_TYPE", "XOS_MMM_L_MAX_ARENA_NUM"})
    if (JobValue value = job.valueOf(launch, name);
        value.known && parseEnvNumber(value.text) != 1)
      missing.push_back(
          {(Twine(name) + " is " + value.text + ", not 1").str(), name, "1"});
  return missing;
}

void mpg::checkFallback(JobContext &job) {
  if (!job.wants(FindingId::mpg223))
    return;
  for (const JobLaunch *launch : job.launches) {
    JobValue fallback = job.valueOf(*launch, "XOS_MMM_L_HUGETLB_FALLBACK");
    // Without large pages MPG222 says that it has no effect.
    if (!fallback.set || !fallback.is("1") || !job.largePages(*launch))
      continue;
    std::vector<Missing> missing = missingFor(job, *launch);
    if (missing.empty())
      continue;
    const JobSetting *setting =
        job.settingAt("XOS_MMM_L_HUGETLB_FALLBACK", fallback.line);
    std::string reasons, lines;
    for (const Missing &one : missing) {
      reasons += (reasons.empty() ? "" : "; ") + one.text;
      lines += "\n  export " + one.name + "=" + one.value;
    }
    Finding &finding = job.add(
        FindingId::mpg223, fallback.line, setting && setting->conditional,
        "XOS_MMM_L_HUGETLB_FALLBACK=1 has no effect: " + reasons);
    finding.where.symbol = "XOS_MMM_L_HUGETLB_FALLBACK";
    finding.evidence =
        job.settingText("XOS_MMM_L_HUGETLB_FALLBACK", fallback.line);
    bool manyGroups = launch->launch.threads.value_or(0) > coresOfGroup;
    finding.setFix((manyGroups
                        ? "Take the line out: threads on several core memory "
                          "groups want demand. Or, for safety first, write:"
                        : "Take the line out, or write:") +
                   lines);
  }
}
