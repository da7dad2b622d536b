// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG225: memory that one thread pages in for all core memory groups. The
// first word of the policy is the business of MPG141, which knows the .bss.

#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static bool hasOption(const JobCommand &launcher,
                      std::initializer_list<StringRef> options) {
  return any_of(launcher.words, [&](const JobWord &word) {
    StringRef text = StringRef(word.text).split('=').first;
    return is_contained(options, text);
  });
}

/// Pages are dealt out over the nodes, or bound, whoever touches them.
static bool isPlacedOtherwise(const JobLaunch &launch) {
  for (const JobCommand &launcher : launch.launchers)
    if (!launcher.words.empty() &&
        baseName(launcher.words[0].text) == "numactl" &&
        hasOption(launcher, {"-i", "--interleave"}))
      return true;
  // Fujitsu's MPI does the same.
  const Variable *policy = launch.launch.environment.find(
      "OMPI_MCA_plm_ple_memory_allocation_policy");
  return policy &&
         (!policy->known || StringRef(policy->value).starts_with("interleave"));
}

static std::string setOrDefault(const JobValue &policy) {
  return policy.text.str() + (policy.set ? "" : ", the default");
}

static void reportThreads(JobContext &job, const JobLaunch &launch,
                          const JobValue &policy) {
  unsigned threads = *launch.launch.threads;
  const JobSetting *setting =
      job.settingAt("XOS_MMM_L_PAGING_POLICY", policy.line);
  Finding &finding = job.add(
      FindingId::mpg225, policy.line ? policy.line : launch.line,
      launch.conditional || (setting && setting->conditional),
      std::to_string(threads) +
          " threads of one process span several core memory groups, but one "
          "thread pages the heap in (" +
          setOrDefault(policy) + ")");
  finding.sub = "groups";
  finding.where.symbol = "XOS_MMM_L_PAGING_POLICY";
  finding.evidence =
      policy.line ? job.settingText("XOS_MMM_L_PAGING_POLICY", policy.line)
                  : "XOS_MMM_L_PAGING_POLICY is not set; " + launchText(launch);
}

static void reportStacks(JobContext &job, const JobValue &policy) {
  const JobSetting *setting =
      job.settingAt("XOS_MMM_L_PAGING_POLICY", policy.line);
  Finding &finding =
      job.add(FindingId::mpg225, policy.line, setting && setting->conditional,
              "prepage for stacks takes the whole stack of every thread out "
              "of the large pages at its start");
  finding.sub = "all-prepage";
  finding.where.symbol = "XOS_MMM_L_PAGING_POLICY";
  finding.evidence = job.settingText("XOS_MMM_L_PAGING_POLICY", policy.line);
  finding.cost = "Public job scripts call this policy a failure: large pages "
                 "run out, and all of the memory lies on one core memory "
                 "group.";
}

/// Our libmpg pages in at the first touch where a process may use several nodes
/// and nobody says otherwise.
static bool isByFirstTouch(const JobContext &job, const JobValue &policy) {
  return job.target == Target::mpg && !policy.set;
}

void mpg::checkPaging(JobContext &job) {
  if (!job.wants(FindingId::mpg225))
    return;
  bool saidDefault = false; // once for all programs that do not set it
  for (const JobLaunch *launch : job.launches) {
    JobValue policy = job.valueOf(*launch, "XOS_MMM_L_PAGING_POLICY");
    if (!policy.known || isByFirstTouch(job, policy) ||
        !job.largePages(*launch) || !job.mayLoadLibmpg(*launch))
      continue;
    if (policy.text == "prepage:prepage:prepage" && policy.line)
      reportStacks(job, policy);
    else if (policy.text.ends_with(":prepage") &&
             launch->launch.threads.value_or(0) > coresOfGroup &&
             !isPlacedOtherwise(*launch) && (policy.line || !saidDefault)) {
      reportThreads(job, *launch, policy);
      saidDefault |= policy.line == 0;
    }
  }
}
