// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG228, MPG229 and MPG236: what stands between a program and libmpg's heap,
// and programs that get libmpg although nobody meant them.

#include "Audit/ClosureFacts.h"
#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

static bool isHelgrind(const JobCommand &launcher) {
  ArrayRef<JobWord> words = launcher.words;
  if (words.empty())
    return false;
  if (baseName(words[0].text) == "helgrind")
    return true;
  if (baseName(words[0].text) != "valgrind")
    return false;
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i].text == "--tool=helgrind" ||
        (words[i].text == "--tool" && i + 1 < words.size() &&
         words[i + 1].text == "helgrind"))
      return true;
  return false;
}

/// "XOS_MMM_L_HPAGE_TYPE=none" where the program alone sees it.
static std::string withoutLargePages(const JobLaunch &launch) {
  return "env XOS_MMM_L_HPAGE_TYPE=none " + launchText(launch);
}

void mpg::checkHelgrind(JobContext &job) {
  if (!job.wants(FindingId::mpg228))
    return;
  for (const JobLaunch *launch : job.launches) {
    if (!any_of(launch->launchers, isHelgrind) || !job.largePages(*launch) ||
        !job.mayLoadLibmpg(*launch))
      continue;
    Finding &finding =
        job.add(FindingId::mpg228, launch->line, launch->conditional,
                "helgrind does not go with libmpg");
    finding.where.symbol = "helgrind";
    finding.evidence = launchText(*launch);
    finding.setFix(writeInstead(withoutLargePages(*launch)));
  }
}

/// The file of LD_PRELOAD that takes malloc; "" if there is none.
static StringRef findAllocator(StringRef preload) {
  SmallVector<StringRef, 8> files;
  std::string list = preload.str();
  std::replace(list.begin(), list.end(), ' ', ':');
  StringRef(list).split(files, ':');
  for (StringRef file : files) {
    StringRef base = baseName(file);
    if (isAllocatorName(base) || base.starts_with("libhoard") ||
        base.starts_with("librpmalloc") || base.starts_with("libsnmalloc"))
      return preload.substr(preload.find(base), base.size());
  }
  return "";
}

static bool isSaidAlready(const FileReport *report) {
  return report && any_of(report->findings, [](const Finding &finding) {
           return finding.id == FindingId::mpg113;
         });
}

static void checkAllocator(JobContext &job, const JobLaunch &launch,
                           const Variable &preload) {
  StringRef allocator = findAllocator(preload.value);
  if (allocator.empty() || !job.largePages(launch) ||
      !job.mayLoadLibmpg(launch) || isSaidAlready(job.reportOf(launch)))
    return;
  const JobSetting *setting = job.settingAt("LD_PRELOAD", preload.line);
  Finding &finding =
      job.add(FindingId::mpg229, preload.line ? preload.line : launch.line,
              setting && setting->conditional,
              allocator + " takes malloc from libmpg, and large pages are on");
  finding.where.symbol = allocator.str();
  finding.evidence = preload.line
                         ? job.settingText("LD_PRELOAD", preload.line)
                         : "LD_PRELOAD is set for " + launchText(launch);
}

static bool isPreloadForAll(const JobSetting &setting) {
  return setting.name == "LD_PRELOAD" && setting.how == "export" &&
         StringRef(setting.value.text).contains("libmpg.so.1");
}

/// Fujitsu's libmpg in front of every command: each one that is position
/// independent, and all of the system's are, complains.
static void checkEverywhere(JobContext &job, const JobSetting &setting) {
  StringRef value = setting.value.text;
  auto isTool = [&](const JobCommand &command) {
    return command.line > setting.line && !command.words.empty() &&
           !is_contained({"export", "unset", "cd", "echo", "module", "ulimit",
                          "source", ".", "set", "exit", "wait"},
                         StringRef(command.words[0].text));
  };
  Finding *finding = nullptr;
  for (const JobCommand &command : job.script.commands)
    if (isTool(command)) {
      finding = &job.add(FindingId::mpg236, setting.line, setting.conditional,
                         "LD_PRELOAD gives libmpg to every command of the "
                         "script, " +
                             baseName(command.words[0].text) + " for one");
      break;
    }
  if (!finding)
    return;
  finding->sub = "preload";
  finding->where.symbol = "LD_PRELOAD";
  finding->evidence = shortened(writeSetting(setting, setting.name, value));
  finding->setFix("Set it for the program alone, in front of it or, with an "
                  "MPI launcher, as its option:\n  mpiexec -x LD_PRELOAD=" +
                  value.str() + " PROGRAM");
}

/// A tool of the system that loads libmpg through its libraries.
static void checkSystemProgram(JobContext &job, const JobLaunch &launch) {
  const FileReport *report = job.reportOf(launch);
  if (!report || job.target != Target::fugaku)
    return;
  StringRef path = report->path;
  bool ofSystem = path.starts_with("/usr/bin/") || path.starts_with("/bin/");
  bool complains = any_of(report->findings, [](const Finding &finding) {
    return finding.id == FindingId::mpg102;
  });
  if (!ofSystem || !complains || !report->closure || !job.mayLoadLibmpg(launch))
    return;
  Finding &finding =
      job.add(FindingId::mpg236, launch.line, launch.conditional,
              path + " is position independent and loads libmpg: it prints "
                     "LPG 2002");
  finding.sub = "system-tool";
  finding.where.symbol = path.str();
  finding.evidence = launchText(launch);
  finding.setFix("If the message disturbs, let the tool find the system's "
                 "libraries first:\n  env LD_LIBRARY_PATH=/lib64:"
                 "$LD_LIBRARY_PATH " +
                 launchText(launch));
}

void mpg::checkPreloads(JobContext &job) {
  for (const JobLaunch *launch : job.launches) {
    const Variable *preload = launch->launch.environment.find("LD_PRELOAD");
    if (preload && job.wants(FindingId::mpg229))
      checkAllocator(job, *launch, *preload);
    if (job.wants(FindingId::mpg236))
      checkSystemProgram(job, *launch);
  }
  if (!job.wants(FindingId::mpg236) || job.target != Target::fugaku)
    return;
  // The first one tells: behind the others are fewer commands.
  for (const JobSetting &setting : job.script.settings)
    if (isPreloadForAll(setting))
      return checkEverywhere(job, setting);
}
