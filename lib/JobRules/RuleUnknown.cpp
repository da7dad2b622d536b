// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG238 and MPG239: what the rules could not look at, so that a user does not
// take silence for a good verdict.

#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace mpg;

/// Variables that some rule asks about. Paths are left out: that
/// $LD_LIBRARY_PATH is not known is as it should be.
static bool matters(StringRef name) {
  return findEnvVariable(name) || name == "OMP_NUM_THREADS" ||
         name == "LD_PRELOAD";
}

namespace {
struct Unknown {
  unsigned line;
  std::string value, what;
};
} // namespace

static std::vector<Unknown> findUnknown(const JobContext &job) {
  std::vector<Unknown> unknown;
  for (const JobSetting &setting : job.script.settings)
    if (setting.how != "unset" && !setting.value.known() &&
        matters(setting.name))
      unknown.push_back({setting.line, setting.value.unknown, setting.name});
  for (const JobLaunch *launch : job.launches)
    if (!launch->program.known() && job.isMissing(*launch) &&
        !launch->notUnderstood)
      unknown.push_back(
          {launch->line, launch->program.text, "a program that is started"});
  sortBy(unknown, &Unknown::line);
  return unknown;
}

static void reportUnknown(JobContext &job) {
  std::vector<Unknown> unknown = findUnknown(job);
  if (unknown.empty())
    return;
  const Unknown &first = unknown[0];
  std::string title =
      shortened(first.value) + " is not known: rules about " + first.what;
  if (unknown.size() > 1)
    title += " and " + std::to_string(unknown.size() - 1) + " more";
  Finding &finding =
      job.add(FindingId::mpg238, first.line, title + " were not applied");
  finding.where.symbol = first.what;
  constexpr size_t shown = 5;
  for (size_t i = 0; i < std::min(unknown.size(), shown); ++i)
    finding.evidence += (i ? "; line " : "line ") +
                        std::to_string(unknown[i].line) + ": " +
                        unknown[i].what + " is " + shortened(unknown[i].value);
}

/// Names programs that the script starts and that were not audited: silence
/// about them is not a verdict.
static void reportNotFound(JobContext &job) {
  std::vector<const JobLaunch *> missing;
  for (const JobLaunch *launch : job.launches)
    if (launch->program.known() && job.isMissing(*launch) &&
        !launch->madeLine && launch->image.text.empty() &&
        !launch->notUnderstood)
      missing.push_back(launch);
  if (missing.empty())
    return;
  std::string title =
      shortened(missing[0]->program.text, copiedBytes) + " was not found";
  if (missing.size() > 1)
    title += (missing.size() == 2 ? ", nor was " : ", nor were ") +
             std::to_string(missing.size() - 1) + " more";
  Finding &finding =
      job.add(FindingId::mpg238, missing[0]->line,
              title + ": only the script was looked at, not the program");
  finding.sub = "not-found";
  finding.where.symbol = missing[0]->program.text;
  finding.evidence = launchText(*missing[0]);
  finding.setFix("Name the program:\n  mpgaudit PROGRAM --job=" +
                 printable(job.script.path));
}

/// Commands that are not on this machine: tools of the site, or programs of the
/// job that a module brings.
static void reportBareNames(JobContext &job) {
  std::vector<const JobProblem *> missing;
  StringSet<> seen;
  for (const JobProblem &command : job.script.bareNames)
    if (seen.insert(command.text).second &&
        !sys::findProgramByName(command.text))
      missing.push_back(&command);
  if (missing.empty())
    return;
  constexpr size_t shown = 4;
  std::string names;
  for (size_t i = 0; i < std::min(missing.size(), shown); ++i)
    names += (i ? ", " : "") + shortened(missing[i]->text, copiedBytes);
  if (missing.size() > shown)
    names += " and " + std::to_string(missing.size() - shown) + " more";
  Finding &finding = job.add(
      FindingId::mpg238, missing[0]->line,
      names + (missing.size() == 1 ? " is" : " are") +
          " not on this machine: what the command starts was not looked at");
  finding.sub = "no-command";
  finding.where.symbol = missing[0]->text;
  finding.evidence = "a command without a folder and without a launcher";
  finding.setFix("If it is a program of the job, name it:\n  mpgaudit PROGRAM "
                 "--job=" +
                 printable(job.script.path));
}

/// A program's file of now says nothing about the one that will run.
static void reportMade(JobContext &job) {
  for (const JobLaunch *launch : job.launches) {
    if (!launch->madeLine || !job.isMissing(*launch))
      continue;
    Finding &finding = job.add(
        FindingId::mpg238, launch->line,
        shortened(launch->program.text, copiedBytes) + " is made by line " +
            std::to_string(launch->madeLine) +
            " of the script: the file that is there now was not looked at");
    finding.sub = "made";
    finding.where.symbol = launch->program.text;
    finding.evidence = launchText(*launch);
    finding.setFix("Build first and audit then, or name the program:\n"
                   "  mpgaudit PROGRAM --job=" +
                   printable(job.script.path));
  }
}

/// Left out on purpose; everything else stops a shell as well.
static bool isLeftOut(StringRef problem) {
  return problem.starts_with("not read") || problem.starts_with("a csh script");
}

static void leaveOut(Finding &finding) {
  finding.severity = Severity::note;
  finding.cost = "mpgaudit does not see that part.";
  finding.setFix("");
}

/// Text with hundreds of problems is not a script.
static constexpr size_t maxProblems = 20;

/// Room for a path in front of the reason.
static constexpr size_t shownOfProblem = 160;

static void reportProblems(JobContext &job) {
  const std::vector<JobProblem> &problems = job.script.problems;
  for (size_t i = 0; i < std::min(problems.size(), maxProblems); ++i) {
    Finding &finding = job.add(FindingId::mpg239, problems[i].line,
                               shortened(problems[i].text, shownOfProblem));
    finding.sub = problems[i].text; // two in one line are two findings
    if (isLeftOut(problems[i].text))
      leaveOut(finding);
    if (StringRef(problems[i].text).ends_with(lateDirective)) {
      finding.cost = "The job does not get what they ask for.";
      finding.setFix("Write them above the first command.");
    }
  }
  if (problems.size() <= maxProblems)
    return;
  ArrayRef<JobProblem> others = ArrayRef(problems).drop_front(maxProblems);
  Finding &finding =
      job.add(FindingId::mpg239, others.front().line,
              std::to_string(others.size()) + " more places could not be read");
  if (all_of(others,
             [](const JobProblem &problem) { return isLeftOut(problem.text); }))
    leaveOut(finding);
}

/// Programs that were not looked at, because of how they are started.
static void reportNotUnderstood(JobContext &job) {
  const std::vector<JobProblem> &all = job.script.notUnderstood;
  for (size_t i = 0; i < std::min(all.size(), maxProblems); ++i) {
    Finding &finding = job.add(FindingId::mpg239, all[i].line,
                               "not understood, not looked at: " +
                                   shortened(all[i].text, shownOfProblem));
    finding.sub = notUnderstoodSub.str() + all[i].text;
    finding.severity = Severity::note;
    finding.cost =
        "it is not known whether they get large pages; the exit status "
        "is 3, if it is not 1 or 2";
    finding.setFix("Name the programs:\n  mpgaudit PROGRAM... --job=" +
                   printable(job.script.path));
  }
}

void mpg::checkUnknown(JobContext &job) {
  if (job.wants(FindingId::mpg238)) {
    reportUnknown(job);
    reportNotFound(job);
    reportBareNames(job);
    reportMade(job);
  }
  if (job.wants(FindingId::mpg239)) {
    reportProblems(job);
    reportNotUnderstood(job);
  }
}
