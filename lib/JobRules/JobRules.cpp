// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobRules.h. Chooses the rules that run, and filters their findings.
// Rule<Topic>.cpp has the rules, one topic each.

#include "JobRules/JobRules.h"
#include "JobRules/RuleContext.h"
#include "Support/StableSort.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <tuple>

using namespace llvm;
using namespace mpg;

bool mpg::isForOtherMachine(const JobScript &script) {
  auto named = [](StringRef module) {
    return module.contains("impi") || module.contains("intel") ||
           module.contains("cuda") || module.contains("nvidia");
  };
  for (const std::string &module : script.modules)
    if (named(module))
      return true;
  for (const JobSetting &setting : script.settings)
    if (StringRef(setting.name).starts_with("I_MPI_") ||
        setting.name == "CUDA_VISIBLE_DEVICES")
      return true;
  for (const JobDirective &directive : script.directives)
    if (StringRef(directive.value).contains("gpu="))
      return true;
  return false;
}

/// Our runtime reads the variables of Fujitsu's.
static bool isForOurRuntime(const JobScript &script) {
  auto isMpgrun = [](const JobCommand &command) {
    return !command.words.empty() &&
           baseName(command.words[0].text) == "mpgrun";
  };
  return any_of(script.settings,
                [](const JobSetting &setting) {
                  return StringRef(setting.name).starts_with("MPG_MODE");
                }) ||
         any_of(script.launches, [&](const JobLaunch &launch) {
           return any_of(launch.launchers, isMpgrun);
         });
}

/// LD_PRELOAD=/opt/FJSVxos/mmm/lib64/libmpg.so.1
static bool preloadsVendorLibrary(const JobScript &script) {
  return any_of(script.settings, [](const JobSetting &setting) {
    return setting.name == "LD_PRELOAD" &&
           StringRef(setting.value.text).contains("libmpg.so.1");
  });
}

bool mpg::isFugakuScript(const JobScript &script) {
  if (isForOurRuntime(script))
    return false;
  return preloadsVendorLibrary(script) ||
         (script.scheduler == Scheduler::pjm && !isForOtherMachine(script));
}

static constexpr void (*rules[])(JobContext &job) = {
    checkNames,      checkValues,       checkNoEffect,   checkFallback,
    checkPaging,     checkNodeMemory,   checkCpuNumbers, checkHelgrind,
    checkPreloads,   checkTagOverride,  checkSectors,    checkLeftovers,
    checkStackLimit, checkCompileLines, checkBinding,    checkUnknown,
    checkOtherMeans, checkOtherRisks,   checkContainers,
};

/// Keeps one of equal findings, although twenty starts of programs have it, and
/// only as many of one number as a user reads.
static void dropRepeated(std::vector<Finding> &findings) {
  constexpr unsigned maxSameNumber = 50;
  std::set<std::tuple<FindingId, std::string, unsigned, std::string>> seen;
  std::map<FindingId, unsigned> count;
  erase_if(findings, [&](const Finding &finding) {
    bool isNew =
        seen.insert({finding.id, finding.sub, finding.where.line.value_or(0),
                     finding.where.symbol})
            .second;
    return !isNew || ++count[finding.id] > maxSameNumber;
  });
}

/// Findings that the site or the user demands. An error needs proof: the
/// program's file was read, and no value that is not known may change it.
static void requireLargePages(const JobVerdict &verdict, JobContext &job) {
  for (const ProgramVerdict &program : verdict.programs) {
    if (program.means.givesAny() || !program.known)
      continue;
    bool isSure = !program.conditional && program.unless.empty();
    Finding &finding = job.add(
        FindingId::mpg241, program.line, program.conditional,
        "nothing of " + program.program + " will be on large pages" +
            (program.unless.empty() ? "" : ", unless " + program.unless));
    finding.severity = isSure ? Severity::error : Severity::warning;
    finding.where.symbol = program.program;
    finding.evidence = program.because;
    if (!program.write.empty())
      finding.setFix(writeInstead(program.write, program.writeIn));
  }
}

std::vector<Finding> mpg::auditJob(const JobScript &script,
                                   ArrayRef<LaunchedProgram> programs,
                                   const JobVerdict &verdict,
                                   const JobSettings &settings) {
  std::vector<Finding> findings;
  JobContext job(script, programs, settings, findings);
  for (auto *rule : rules)
    rule(job);
  if (settings.requireLargePages)
    requireLargePages(verdict, job);
  stableSort(findings, [](const Finding &a, const Finding &b) {
    return a.where.line.value_or(0) < b.where.line.value_or(0);
  });
  dropRepeated(findings);
  return findings;
}
