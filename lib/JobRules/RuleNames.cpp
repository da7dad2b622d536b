// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG220 and MPG240: variables that nobody reads, because of their name, or
// because they never reach a program.

#include "JobRules/RuleContext.h"
#include <set>

using namespace llvm;
using namespace mpg;

/// In public scripts and slides, in no list of Fujitsu's: whether they do
/// something is not known.
static bool isUndocumented(StringRef name) {
  return name == "XOS_MMM_L_HUGE_MALLOC" || name == "FLIB_SCCR_ASSIGN";
}

/// Names that begin like ours and are other people's: the rest of Fujitsu's
/// runtime, our own tools.
static bool isOtherName(StringRef name) {
  for (const char *known :
       {"FLIB_L2_SCCR_CNTL_EX", "FLIB_SCCR_CNTL_OSCALL", "FLIB_SCCR_USE_MAXWAY",
        "FLIB_L1_SECTOR_NWAYS_INIT_NP", "MPG_PASS_OPTIONS", "MPG_FHETBO",
        "MPG_AUDIT"})
    if (name == known)
      return true;
  return false;
}

/// The name that was meant; "" if \p name is right, or not ours to judge.
static std::string meantName(StringRef name, bool &unknown) {
  unknown = false;
  if (findEnvVariable(name) || isOtherName(name))
    return "";
  std::string upper = name.upper();
  // glibc's end in an underscore, which is easily forgotten. Its other names
  // are no mistake.
  if (StringRef(upper).starts_with("MALLOC_")) {
    const EnvVariable *whole = findEnvVariable(upper + "_");
    unknown = whole || findEnvVariable(upper);
    return !unknown ? "" : whole ? whole->name.str() : upper;
  }
  // Of other names nothing is known; to compare them all would take long.
  bool ofLibrary = StringRef(upper).starts_with("XOS_");
  if (!ofLibrary && !StringRef(upper).starts_with("FLIB_") &&
      !StringRef(upper).starts_with("MPG_"))
    return "";
  const EnvVariable *nearest = nearestEnvVariable(upper);
  unsigned distance = nearest ? editDistance(upper, nearest->name) : 99;
  // All names with this beginning are the library's; of the others only what
  // is nearly one of the table.
  if (StringRef(upper).starts_with("XOS_MMM_L_"))
    unknown = true;
  else
    unknown = ofLibrary ? nearest != nullptr : distance <= 2;
  return unknown && nearest ? nearest->name.str() : "";
}

static void checkName(JobContext &job, const JobSetting &setting) {
  bool unknown;
  bool undocumented = isUndocumented(setting.name);
  std::string meant = meantName(setting.name, unknown);
  if (!unknown && !undocumented)
    return;
  std::string title = setting.name + " is not known and has no effect";
  if (undocumented)
    title = setting.name + " is in no list of variables; that it does "
                           "something is not proven";
  else if (!meant.empty())
    title += "; did you mean " + meant + "?";
  Finding &finding = job.add(FindingId::mpg220, setting.line,
                             setting.conditional && !undocumented, title);
  if (undocumented) {
    finding.severity = Severity::note;
    finding.cost = "";
  }
  finding.where.symbol = setting.name;
  finding.evidence =
      shortened(writeSetting(setting, setting.name, setting.value.text));
  if (!meant.empty() && !undocumented)
    finding.setFix(
        writeInstead(writeSetting(setting, meant, setting.value.text)));
  else
    finding.setFix("Take the line out.");
}

static std::set<StringRef> namesThatProgramsSee(const JobContext &job) {
  std::set<StringRef> seen;
  for (const JobLaunch &launch : job.script.launches)
    for (const EnvVariable &row : allEnvVariables())
      if (launch.launch.environment.find(row.name))
        seen.insert(row.name);
  return seen;
}

/// "A=b" alone sets a variable of the shell, which no program sees.
static void checkExport(JobContext &job, const JobCommand &command,
                        const std::set<StringRef> &seen) {
  auto nameOf = [](const JobWord &word) {
    return StringRef(word.text).split('=').first;
  };
  // "A=b cp x y" sets it for cp alone; other variables are the script's own.
  for (const JobWord &word : command.words)
    if (!StringRef(word.text).contains('=') || !findEnvVariable(nameOf(word)))
      return;
  for (const JobWord &word : command.words) {
    StringRef name = nameOf(word);
    if (seen.count(name))
      continue;
    Finding &finding =
        job.add(FindingId::mpg240, command.line, command.conditional,
                name + " is not exported: no program sees it");
    finding.sub = "not-exported";
    finding.where.symbol = name.str();
    finding.evidence = shortened(word.text);
    finding.setFix(writeInstead("export " + word.text));
  }
}

static void checkTooLate(JobContext &job, const JobSetting &setting,
                         unsigned lastLaunch) {
  if (setting.how != "export" || !findEnvVariable(setting.name) ||
      setting.line <= lastLaunch)
    return;
  Finding &finding = job.add(
      FindingId::mpg240, setting.line, setting.conditional,
      setting.name + " is set behind the last program that the script starts");
  finding.sub = "too-late";
  finding.where.symbol = setting.name;
  finding.evidence = job.settingText(setting.name, setting.line) +
                     "; the last program is "
                     "started in line " +
                     std::to_string(lastLaunch);
  finding.setFix("Move the line in front of line " +
                 std::to_string(lastLaunch) + ".");
}

void mpg::checkNames(JobContext &job) {
  unsigned lastLaunch = 0;
  for (const JobLaunch *launch : job.launches)
    lastLaunch = std::max(lastLaunch, launch->line);
  const bool late = job.wants(FindingId::mpg240) && !job.launches.empty();
  for (const JobSetting &setting : job.script.settings) {
    if (setting.how == "unset")
      continue;
    if (job.wants(FindingId::mpg220))
      checkName(job, setting);
    if (late)
      checkTooLate(job, setting, lastLaunch);
  }
  if (!late)
    return;
  const std::set<StringRef> seen = namesThatProgramsSee(job);
  for (const JobCommand &command : job.script.commands)
    checkExport(job, command, seen);
}
