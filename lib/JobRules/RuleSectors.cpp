// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG232: variables of the sector cache that cannot do what they say. Their
// spelling and their ranges are the business of MPG220 and MPG221.

#include "JobRules/RuleContext.h"

using namespace llvm;
using namespace mpg;

/// HW:a64fx-l2-ways-job
static constexpr uint64_t l2Ways = 14;

static constexpr const char *waysName = "FLIB_L2_SECTOR_NWAYS_INIT";

static void checkSum(JobContext &job, const JobValue &ways) {
  auto [first, second] = ways.text.split(',');
  uint64_t sum =
      parseEnvNumber(first).value_or(0) + parseEnvNumber(second).value_or(0);
  if (sum == l2Ways)
    return;
  const JobSetting *setting = job.settingAt(waysName, ways.line);
  Finding &finding =
      job.add(FindingId::mpg232, ways.line, setting && setting->conditional,
              Twine(waysName) + "=" + ways.text + " divides " + Twine(sum) +
                  " ways of L2, a job has 14");
  finding.sub = "sum";
  finding.where.symbol = waysName;
  finding.evidence = job.settingText(waysName, ways.line);
  uint64_t kept = std::min(parseEnvNumber(second).value_or(0), l2Ways);
  if (sum < l2Ways) {
    finding.severity = Severity::note;
    finding.cost = "The ways that neither sector has stay unused.";
  }
  if (setting)
    finding.setFix(writeInstead(writeSetting(*setting, waysName,
                                             std::to_string(l2Ways - kept) +
                                                 "," + std::to_string(kept))));
}

/// The ways of L2 belong to all processes of a core memory group.
static void checkSharing(JobContext &job, const JobLaunch &launch,
                         StringRef name, const JobValue &value) {
  std::optional<unsigned> ranks = launch.launch.ranksPerNode;
  if (!ranks)
    ranks = job.script.ranksPerNode;
  if (!ranks || *ranks <= groupsOfNode)
    return;
  const JobSetting *setting = job.settingAt(name, value.line);
  Finding &finding =
      job.add(FindingId::mpg232, value.line,
              launch.conditional || (setting && setting->conditional),
              "L2 is not divided: " + std::to_string(*ranks) +
                  " processes on a node share its 4 core memory groups");
  finding.sub = "shared";
  finding.where.symbol = name.str();
  finding.evidence =
      job.settingText(name, value.line) + "; " + launchText(launch);
}

void mpg::checkSectors(JobContext &job) {
  if (!job.wants(FindingId::mpg232))
    return;
  for (const JobLaunch *launch : job.launches) {
    JobValue ways = job.valueOf(*launch, waysName);
    JobValue control = job.valueOf(*launch, "FLIB_SCCR_CNTL");
    if (control.is("FALSE"))
      continue; // MPG222 if there are ways as well
    if (ways.line && ways.known) {
      checkSum(job, ways);
      checkSharing(job, *launch, waysName, ways);
    } else if (control.line && control.is("TRUE")) {
      checkSharing(job, *launch, "FLIB_SCCR_CNTL", control);
    }
  }
}
