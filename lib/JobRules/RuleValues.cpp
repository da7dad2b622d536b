// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPG221 and MPG224: values that the library refuses, and a page size that
// only McKernel has. The words are those of libmpg at run time.

#include "JobRules/RuleContext.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

static std::string fieldsText(StringRef value) {
  size_t fields = value.empty() ? 0 : value.count(':') + 1;
  return "it has " + std::to_string(fields) +
         (fields == 1 ? " field" : " fields") + " instead of 3";
}

static void checkValue(JobContext &job, const JobSetting &setting,
                       const EnvVariable &row) {
  StringRef value = setting.value.text;
  if (isLegalValue(row, value))
    return;
  std::string title = setting.name + "='" + shortened(value) +
                      "' is not valid (" + row.domain.str();
  bool policy = row.type == EnvType::policy3;
  if (policy)
    title += " for .bss, stacks and mmap, such as " + row.fallback.str();
  StringRef fallback = fallbackOf(row, job.target);
  title += fallback.empty()
               ? "); it counts as not set"
               : ("); the default, " + fallback + ", is used").str();
  Finding &finding =
      job.add(FindingId::mpg221, setting.line, setting.conditional, title);
  finding.where.symbol = setting.name;
  finding.evidence = shortened(writeSetting(setting, setting.name, value));
  if (policy && value.count(':') != 2) {
    finding.sub = "fields";
    finding.evidence += "; " + fieldsText(value);
  }
  if (std::string better = nearestValue(row, value); !better.empty())
    finding.setFix(writeInstead(writeSetting(setting, setting.name, better)));
}

/// McKernel is chosen by the job's environment or started by hand.
static bool usesMckernel(const JobScript &script) {
  auto has = [](StringRef text) {
    return text.contains("mck") || text.contains("mcexec");
  };
  return any_of(script.directives,
                [&](const JobDirective &directive) {
                  return StringRef(directive.value).contains("jobenv=mck");
                }) ||
         any_of(script.commands, [&](const JobCommand &command) {
           return any_of(command.words, [&](const JobWord &word) {
             return has(baseName(word.text));
           });
         });
}

static void checkPageSize(JobContext &job, const JobSetting &setting) {
  StringRef value = setting.value.text;
  bool harmless = value == "2M";
  Finding &finding = job.add(
      FindingId::mpg224, setting.line, setting.conditional,
      harmless
          ? "XOS_MMM_L_HUGETLB_SZ=2M is read under McKernel only; 2M is what "
            "Linux gives anyway"
          : "XOS_MMM_L_HUGETLB_SZ=" + value +
                " is read under McKernel only: "
                "the pages are of 2M");
  if (harmless)
    finding.severity = Severity::note;
  finding.where.symbol = setting.name;
  finding.evidence = shortened(writeSetting(setting, setting.name, value));
}

void mpg::checkValues(JobContext &job) {
  const bool mckernel =
      job.wants(FindingId::mpg224) && usesMckernel(job.script);
  for (const JobSetting &setting : job.script.settings) {
    const EnvVariable *row = findEnvVariable(setting.name);
    if (!row || setting.how == "unset" || !setting.value.known())
      continue;
    if (job.wants(FindingId::mpg221))
      checkValue(job, setting, *row);
    if (row->name == "XOS_MMM_L_HUGETLB_SZ" && job.wants(FindingId::mpg224) &&
        !mckernel && isLegalValue(*row, setting.value.text))
      checkPageSize(job, setting);
  }
}
