// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a job will not get as its script means it. MPG223:
// HUGETLB_FALLBACK=1 without what Fujitsu's library wants for it. MPG225:
// memory that one thread pages in for all core memory groups. MPG226: the
// processes of a node, all starting at once, against the memory that the job
// has there. MPG234: stack limits with which the process stack does not fit on
// large pages.

#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

static StringRef getField(StringRef policy, unsigned index) {
  while (index--)
    policy = policy.split(':').second;
  return policy.split(':').first;
}

namespace {
/// A wrong setting, and the line that fixes it.
struct Missing {
  std::string text;
  std::string name, value;
};
} // namespace

static std::vector<Missing> missingFor(const JobContext &job,
                                       const JobLaunch &launch) {
  std::vector<Missing> missing;
  JobValue policy = job.getValue(launch, "XOS_MMM_L_PAGING_POLICY");
  if (policy.known && getField(policy.text, 2) != "prepage")
    missing.push_back({"XOS_MMM_L_PAGING_POLICY is " + policy.text.str() +
                           ", not *:*:prepage",
                       "XOS_MMM_L_PAGING_POLICY",
                       (getField(policy.text, 0) + ":" +
                        getField(policy.text, 1) + ":prepage")
                           .str()});
  // ARENA_FREE=2 makes both of these 1.
  if (job.getValue(launch, "XOS_MMM_L_ARENA_FREE").is("2"))
    return missing;
  for (const char *name :
       {"XOS_MMM_L_ARENA_LOCK_TYPE", "XOS_MMM_L_MAX_ARENA_NUM"})
    if (JobValue value = job.getValue(launch, name);
        value.known && parseEnvNumber(value.text) != 1)
      missing.push_back(
          {(Twine(name) + " is " + value.text + ", not 1").str(), name, "1"});
  return missing;
}

void mpg::checkFallback(JobContext &job) {
  if (!job.wants(FindingId::mpg223))
    return;
  for (const JobLaunch *launch : job.launches) {
    JobValue fallback = job.getValue(*launch, "XOS_MMM_L_HUGETLB_FALLBACK");
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

static bool hasOption(const JobCommand &launcher,
                      std::initializer_list<StringRef> options) {
  return any_of(launcher.words, [&](const JobWord &word) {
    StringRef text = StringRef(word.text).split('=').first;
    return is_contained(options, text);
  });
}

/// Pages are dealt out over the nodes, or bound, whichever thread touches them.
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
          policy.text + (policy.set ? "" : ", the default") + ")");
  finding.sub = "groups";
  finding.where.symbol = "XOS_MMM_L_PAGING_POLICY";
  finding.evidence =
      policy.set ? job.settingText("XOS_MMM_L_PAGING_POLICY", policy.line)
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
/// and nothing says otherwise.
static bool isByFirstTouch(const JobContext &job, const JobValue &policy) {
  return job.target == Target::mpg && !policy.set;
}

void mpg::checkPaging(JobContext &job) {
  if (!job.wants(FindingId::mpg225))
    return;
  bool saidDefault = false; // once for all programs that do not set it
  for (const JobLaunch *launch : job.launches) {
    JobValue policy = job.getValue(*launch, "XOS_MMM_L_PAGING_POLICY");
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

/// What 32 GiB of HBM leave for a job. HW:a64fx-node-memory
static constexpr uint64_t fugakuMemoryBytes = uint64_t(28) << 30;

namespace {
struct Limit {
  uint64_t bytes;
  const char *source;
};
} // namespace

static std::optional<Limit> findLimit(const JobContext &job) {
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
static uint64_t findPeak(const JobContext &job, const JobLaunch &launch,
                         const FileReport &report) {
  JobValue policy = job.getValue(launch, "XOS_MMM_L_PAGING_POLICY");
  bool reads = job.target == Target::fugaku || job.target == Target::mpg;
  bool demand = reads && policy.known && policy.text.starts_with("demand:") &&
                !(job.target == Target::mpg && dealsBssAtStart(launch.launch));
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
      fitting ? "start at most " + countWord(fitting, "process") + " on a node"
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
  uint64_t peak = findPeak(job, launch, report);
  uint64_t all = SaturatingMultiply<uint64_t>(peak, *ranks);
  if (all <= limit.bytes)
    return;
  Finding &finding = job.add(FindingId::mpg226, launch.line, launch.conditional,
                             "start-up of " + countWord(*ranks, "process") +
                                 " on a node needs " + formatBytes(all) +
                                 ", the job has " + formatBytes(limit.bytes));
  finding.where.symbol = launch.program.text;
  finding.where.bytes = all;
  finding.evidence = formatBytes(peak) + " for each process of " +
                     launchText(launch) + "; " + formatBytes(limit.bytes) +
                     ": " + limit.source;
  setFix(finding, job, peak ? limit.bytes / peak : 0,
         job.getValue(launch, "XOS_MMM_L_PAGING_POLICY"));
}

void mpg::checkNodeMemory(JobContext &job) {
  std::optional<Limit> limit = findLimit(job);
  if (!job.wants(FindingId::mpg226) || !limit)
    return;
  for (const JobLaunch *launch : job.launches) {
    const FileReport *report = job.findReport(*launch);
    if (report && report->facts.layout && job.largePages(*launch) &&
        job.mayLoadLibmpg(*launch) && !isSaidAlready(*report))
      checkLaunch(job, *launch, *report, *limit);
  }
}

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
  auto *after = partition_point(
      limits, [&](const JobCommand *limit) { return limit->line <= line; });
  return after == limits.begin() ? nullptr : after[-1];
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
        !job.getValue(*launch, "XOS_MMM_L_LPG_MODE").is("base"))
      report(job, *launch, *bytes, limitBefore(limits, launch->line));
  }
}
