// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variables that a script sets. MPG220 and MPG240: those that nothing
// reads, because of their name, or because they never reach a program. MPG221
// and MPG224: values that the library refuses, and a page size that only
// McKernel has, in the words of libmpg at run time. MPG222: settings that do
// nothing because another one decides.

#include "JobRules/RuleContext.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
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
  // are correct without.
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
  std::string title = setting.name + " is unknown and has no effect";
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
  finding.evidence = shortened(writeSetting(setting, setting.name));
  if (!meant.empty() && !undocumented)
    finding.setFix(writeInstead(writeSetting(setting, meant)));
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
  auto getName = [](const JobWord &word) {
    return StringRef(word.text).split('=').first;
  };
  // "A=b cp x y" sets it for cp alone; other variables are the script's own.
  for (const JobWord &word : command.words)
    if (!StringRef(word.text).contains('=') || !findEnvVariable(getName(word)))
      return;
  for (const JobWord &word : command.words) {
    StringRef name = getName(word);
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
      setting.name + " is set after the last program that the script starts");
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
  StringRef fallback = findFallback(row, job.target);
  title += fallback.empty()
               ? "); it counts as not set"
               : ("); the default, " + fallback + ", is used").str();
  Finding &finding =
      job.add(FindingId::mpg221, setting.line, setting.conditional, title);
  finding.where.symbol = setting.name;
  finding.evidence = shortened(writeSetting(setting, setting.name));
  if (policy && value.count(':') != 2) {
    finding.sub = "fields";
    size_t fields = value.empty() ? 0 : value.count(':') + 1;
    finding.evidence +=
        "; it has " + countWord(fields, "field") + " instead of 3";
  }
  if (std::string better = nearestValue(row, value); !better.empty())
    finding.setFix(writeInstead(writeSetting(setting, setting.name, better)));
}

static void checkThreadCount(JobContext &job, const JobSetting &setting) {
  StringRef value = setting.value.text;
  if (value.empty() || readThreads(value)) // all ignore an empty one
    return;
  Finding &finding =
      job.add(FindingId::mpg221, setting.line, setting.conditional,
              setting.name + "='" + shortened(value) +
                  "' is not valid (a number, or one for each level: 4,12); "
                  "OpenMP libraries take as many threads as there are CPUs, or "
                  "end the program");
  finding.where.symbol = setting.name;
  finding.evidence = shortened(writeSetting(setting, setting.name));
  // In '...' nothing replaces it.
  if (value.contains('$') && value.find_first_of("\"\\`") == StringRef::npos)
    finding.setFix(writeInstead(
        writeSetting(setting, setting.name, ("\"" + value + "\"").str())));
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
  finding.evidence = shortened(writeSetting(setting, setting.name));
}

void mpg::checkValues(JobContext &job) {
  const bool mckernel =
      job.wants(FindingId::mpg224) && usesMckernel(job.script);
  for (const JobSetting &setting : job.script.settings) {
    const EnvVariable *row = findEnvVariable(setting.name);
    if (setting.how == "unset" || !setting.value.known())
      continue;
    if (setting.name == "OMP_NUM_THREADS" && job.wants(FindingId::mpg221))
      checkThreadCount(job, setting);
    if (!row)
      continue;
    if (job.wants(FindingId::mpg221))
      checkValue(job, setting, *row);
    if (row->name == "XOS_MMM_L_HUGETLB_SZ" && job.wants(FindingId::mpg224) &&
        !mckernel && isLegalValue(*row, setting.value.text))
      checkPageSize(job, setting);
  }
}

namespace {
/// Why a setting does nothing: the case of the rule, and what decides.
struct Reason {
  std::string sub, text;
  bool operator<(const Reason &other) const {
    return std::tie(sub, text) < std::tie(other.sub, other.text);
  }
};

struct DeadSetting {
  std::string name;
  unsigned line;
};
} // namespace

/// With ARENA_FREE=2 these have another value than the one that was asked for.
static StringRef valueOfPool(StringRef name) {
  return name.contains("THRESHOLD_") ? "ULONG_MAX" : "1";
}

static std::optional<Reason> poolDecides(const JobContext &job,
                                         const JobLaunch &launch,
                                         const EnvVariable &row,
                                         StringRef value) {
  if (!row.overriddenBy.contains("ARENA_FREE=2") ||
      !job.getValue(launch, "XOS_MMM_L_ARENA_FREE").is("2") ||
      value == valueOfPool(row.name))
    return std::nullopt;
  return Reason{"arena-free", "XOS_MMM_L_ARENA_FREE=2 makes it " +
                                  valueOfPool(row.name).str()};
}

/// "A=b, C=d" of the table's column `needs`: the first that is not so.
static std::optional<Reason> needIsMissing(const JobContext &job,
                                           const JobLaunch &launch,
                                           const EnvVariable &row) {
  SmallVector<StringRef, 4> needs;
  row.needs.split(needs, ", ", -1, /*KeepEmpty=*/false);
  for (StringRef need : needs) {
    auto [name, wanted] = need.split('=');
    JobValue value = job.getValue(launch, name);
    if (!value.known || value.text == wanted)
      continue;
    if (name == "XOS_MMM_L_HPAGE_TYPE")
      return Reason{"hpage-none",
                    "XOS_MMM_L_HPAGE_TYPE=none switches the library's large "
                    "pages off"};
    return Reason{"needs",
                  (name + "=" + value.text + ", and it needs " + need).str()};
  }
  return std::nullopt;
}

static constexpr uint64_t mebibyte = 1 << 20;

/// HEAP_SIZE_MB below twice the threshold is raised to that.
static std::optional<Reason> isRaised(const JobContext &job,
                                      const JobLaunch &launch,
                                      const EnvVariable &row, StringRef value) {
  JobValue threshold = job.getValue(launch, "MALLOC_MMAP_THRESHOLD_");
  if (row.name != "XOS_MMM_L_HEAP_SIZE_MB" || !threshold.known)
    return std::nullopt;
  uint64_t bytes = parseEnvNumber(threshold.text).value_or(0);
  uint64_t minMebibytes = bytes / mebibyte * 2;
  if (parseEnvNumber(value).value_or(0) >= minMebibytes)
    return std::nullopt;
  return Reason{"heap-size", "it is raised to " + std::to_string(minMebibytes) +
                                 " MiB, 2 x MALLOC_MMAP_THRESHOLD_"};
}

static std::optional<Reason> whyDead(const JobContext &job,
                                     const JobLaunch &launch,
                                     const EnvVariable &row) {
  JobValue value = job.getValue(launch, row.name);
  // A setting of the default value documents it for the reader of the script.
  if (!value.known || value.text == findFallback(row, job.target))
    return std::nullopt;
  if (auto reason = needIsMissing(job, launch, row))
    return reason;
  if (auto reason = poolDecides(job, launch, row, value.text))
    return reason;
  return isRaised(job, launch, row, value.text);
}

static std::string joinList(ArrayRef<DeadSetting> settings) {
  std::string text = settings[0].name;
  if (settings.size() == 2)
    return text + " and " + settings[1].name;
  if (settings.size() > 2)
    text += " and " + std::to_string(settings.size() - 1) + " more";
  return text;
}

/// Published figures for what the two heaps' settings bring.
static void setPoolWords(Finding &finding, StringRef name) {
  if (name == "XOS_MMM_L_ARENA_LOCK_TYPE")
    finding.cost = "Threads wait for each other in malloc; published for 16 "
                   "threads: 1.60 times as fast with 0.";
  else if (name == "MALLOC_MMAP_THRESHOLD_")
    finding.cost = "Arrays of equal size go on competing for the same lines "
                   "of the L1 cache; published for 8 arrays: half of the "
                   "misses with 204800.";
  finding.setFix("Decide for one: take XOS_MMM_L_ARENA_FREE=2 out if this "
                 "setting helps the program more, else this line.");
}

static void report(JobContext &job, const Reason &reason,
                   ArrayRef<DeadSetting> settings) {
  const DeadSetting &first = settings[0];
  const JobSetting *setting = job.settingAt(first.name, first.line);
  Finding &finding = job.add(
      FindingId::mpg222, first.line, setting && setting->conditional,
      joinList(settings) +
          (settings.size() > 1 ? " have no effect: " : " has no effect: ") +
          reason.text);
  finding.sub = reason.sub;
  finding.where.symbol = first.name;
  for (const DeadSetting &dead : settings.take_front(5))
    finding.evidence += (finding.evidence.empty() ? "line " : "; line ") +
                        std::to_string(dead.line) + ": " +
                        job.settingText(dead.name, dead.line);
  if (reason.sub == "arena-free")
    setPoolWords(finding, first.name);
  else if (reason.sub == "heap-size")
    finding.setFix("Lower MALLOC_MMAP_THRESHOLD_ to half of it as well, or "
                   "take the line out.");
}

void mpg::checkNoEffect(JobContext &job) {
  if (!job.wants(FindingId::mpg222))
    return;
  // By line, so that findings come in the script's order. A setting that acts
  // somewhere has no reason.
  std::map<std::pair<unsigned, StringRef>, std::optional<Reason>> reasons;
  for (const JobLaunch *launch : job.launches)
    for (const EnvVariable &row : allEnvVariables()) {
      JobValue value = job.getValue(*launch, row.name);
      if (!value.set || value.line == 0)
        continue;
      auto reason = whyDead(job, *launch, row);
      auto [at, isNew] = reasons.insert({{value.line, row.name}, reason});
      if (!isNew && !reason)
        at->second.reset();
    }
  std::map<Reason, std::vector<DeadSetting>> byReason;
  for (const auto &[key, reason] : reasons)
    if (reason)
      byReason[*reason].push_back({key.second.str(), key.first});
  for (const auto &[reason, settings] : byReason)
    report(job, reason, settings);
}
