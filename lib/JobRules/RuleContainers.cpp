// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Containers of a Kubernetes manifest. MPG245: what they ask of the pool is
// refused, or less than their programs take. MPG246: they ask for nothing
// although their settings need the pool.

#include "Advice/Forecast.h"
#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

static constexpr StringLiteral poolName = "hugepages-2Mi";

static Finding &addFinding(JobContext &job, FindingId id, unsigned line,
                           const JobContainer &container, StringRef sub,
                           const Twine &title) {
  Finding &finding =
      job.add(id, line, "container " + printable(container.name) + title);
  finding.sub = sub.str();
  finding.where.symbol = poolName.str();
  return finding;
}

static std::string mebibytes(uint64_t bytes) {
  return std::to_string(divideCeil(bytes, uint64_t(1) << 20)) + "Mi";
}

/// Amounts and volumes that the API server or the kubelet refuses.
static void checkRefused(JobContext &job, const JobContainer &container) {
  const std::optional<JobAmount> &limit = container.poolLimit,
                                 &request = container.poolRequest;
  auto refuse = [&](unsigned line, StringRef sub,
                    const Twine &title) -> Finding & {
    return addFinding(job, FindingId::mpg245, line, container, sub, title);
  };
  if (request && (!limit || request->bytes != limit->bytes))
    refuse(request->line, "requests",
           " requests " + formatBytes(request->bytes) + " as " + poolName +
               (limit ? ", and its limit is " + formatBytes(limit->bytes)
                      : ", and has no limit of it"))
        .setFix("Write the same amount under limits, or leave the request "
                "out:\n  " +
                poolName.str() + ": " + mebibytes(request->bytes));
  const std::optional<JobAmount> &any = limit ? limit : request;
  if (any && any->bytes % factsHugeBytes)
    refuse(any->line, "multiple",
           " asks for " + std::to_string(any->bytes) + " bytes as " + poolName +
               ", no multiple of 2 MiB")
        .setFix("Write:\n  " + poolName.str() + ": " +
                mebibytes(alignTo(any->bytes, factsHugeBytes)));
  if (any && !container.hasMemoryOrCpu)
    refuse(any->line, "no-memory",
           " asks for " + poolName + " and for neither memory nor cpu")
        .setFix("Write a limit of memory as well; mpgaudit --forecast names "
                "it.");
  if (container.volumeLine)
    refuse(container.volumeLine, "volume",
           " mounts a volume in the pool, and no container of the pod asks "
           "for pages")
        .setFix("Write limits of hugepages-2Mi and of memory.");
}

/// The pages of the pool that \p launch takes for certain: data that our
/// libmpg moves before main.
static uint64_t countCertainPages(const JobContext &job,
                                  const JobLaunch &launch) {
  const FileReport *report = job.findReport(launch);
  const Launch &start = launch.launch;
  if (!report || !report->facts.layout || report->unusable() ||
      report->target != Target::mpg || start.mayChange("MPG_MODE") ||
      !job.largePages(launch) || job.getValue(launch, "MPG_MODE").is("thp") ||
      !(job.mayLoadLibmpg(launch) || report->carriesLibmpg))
    return 0;
  PagingState paging = pagingState(&start, Target::mpg);
  if (!paging.known || !paging.policy.bssPrepaged)
    return 0;
  uint64_t pages =
      makeForecast(*report, &launch, &job.script, nullptr).dataPages;
  return SaturatingMultiply<uint64_t>(pages, start.ranksPerNode.value_or(1));
}

static void checkNeed(JobContext &job, const JobContainer &container,
                      const JobLaunch &launch) {
  uint64_t needed = SaturatingMultiply<uint64_t>(countCertainPages(job, launch),
                                                 factsHugeBytes);
  if (needed <= container.poolLimit->bytes)
    return;
  Finding &finding =
      addFinding(job, FindingId::mpg245, container.poolLimit->line, container,
                 "below-need",
                 " may take " + formatBytes(container.poolLimit->bytes) +
                     " of the pool, and the data of " + launch.program.text +
                     " alone takes " + formatBytes(needed));
  // In mode auto transparent pages take the place of those that are missing.
  bool isPoolAlone = job.getValue(launch, "MPG_MODE").is("hugetlb");
  if (!isPoolAlone || launch.conditional || launch.launch.uncertain)
    finding.severity = Severity::warning;
  finding.where.bytes = needed;
  finding.evidence = launchText(launch);
  finding.setFix("Write, and more for heap and stacks, which mpgaudit "
                 "--forecast counts:\n  " +
                 poolName.str() + ": " + mebibytes(needed));
}

/// The setting that needs pages of the pool; "" if there is none.
static std::string findPoolSetting(const JobLaunch &launch) {
  const Environment &environment = launch.launch.environment;
  static constexpr std::pair<StringLiteral, StringLiteral> settings[] = {
      {"MPG_MODE", "hugetlb"}, {"HUGETLB_MORECORE", "yes"}};
  for (auto [name, value] : settings)
    if (environment.getValue(name) == value)
      return (name + "=" + value).str();
  if (environment.getValue("GLIBC_TUNABLES").contains("glibc.malloc.hugetlb=2"))
    return "glibc.malloc.hugetlb=2";
  StringRef python = environment.getValue("PYTHON_PYMALLOC_HUGEPAGES");
  if (!python.empty() && python != "0")
    return ("PYTHON_PYMALLOC_HUGEPAGES=" + python).str();
  for (const JobWord &word : launch.arguments)
    if (word.text == "-XX:+UseLargePages" || word.text == "huge_pages=on")
      return word.text;
  return "";
}

static void checkNoLimit(JobContext &job, const JobContainer &container,
                         const JobLaunch &launch) {
  std::string setting = findPoolSetting(launch);
  if (setting.empty())
    return;
  Finding &finding =
      addFinding(job, FindingId::mpg246, container.line, container, "",
                 " has no limit of " + poolName + ", and " + setting +
                     " asks for the pool");
  finding.evidence = launchText(launch);
}

void mpg::checkContainers(JobContext &job) {
  if (job.wants(FindingId::mpg245))
    for (const JobContainer &container : job.script.containers)
      checkRefused(job, container);
  for (const JobLaunch *launch : job.launches) {
    if (!launch->container)
      continue;
    const JobContainer &container = job.script.containers[*launch->container];
    if (container.poolLimit && job.wants(FindingId::mpg245))
      checkNeed(job, container, *launch);
    if (!container.poolLimit && !container.poolRequest &&
        !container.asksOtherwise && job.wants(FindingId::mpg246))
      checkNoLimit(job, container, *launch);
  }
}
