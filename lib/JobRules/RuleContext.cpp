// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RuleContext.h. How findings name commands and settings, which machine the
// script numbers its CPUs for, and what value a variable has at the start of a
// program.

#include "JobRules/RuleContext.h"
#include "Audit/ClosureFacts.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::baseName(StringRef path) {
  return path.substr(path.rfind('/') + 1);
}

std::string mpg::shortened(StringRef text) {
  constexpr size_t shownBytes = 72;
  if (text.size() <= shownBytes)
    return text.str();
  // Not in the middle of a letter of several bytes.
  size_t end = shownBytes;
  while (end > 0 && (text[end] & 0xc0) == 0x80)
    --end;
  return text.take_front(end).str() + "...";
}

static std::string joined(ArrayRef<JobWord> words) {
  constexpr size_t enoughBytes = 200; // a line may be 1 MB long
  std::string text;
  for (const JobWord &word : words) {
    if (text.size() > enoughBytes)
      break;
    text += (text.empty() ? "" : " ") + word.text.substr(0, enoughBytes);
  }
  return text;
}

std::string mpg::commandText(ArrayRef<JobWord> words) {
  return shortened(joined(words));
}

std::string mpg::launchText(const JobLaunch &launch) {
  std::string text;
  for (const JobCommand &launcher : launch.launchers)
    text += joined(launcher.words) + " ";
  text += launch.program.text;
  if (!launch.arguments.empty())
    text += " " + joined(launch.arguments);
  return shortened(text);
}

std::string mpg::writeInstead(StringRef line) {
  return ("Write instead:\n  " + line).str();
}

std::string mpg::writeSetting(const JobSetting &setting, StringRef name,
                              StringRef value) {
  std::string pair = (name + "=" + value).str();
  if (setting.how == "export" || setting.how == "setenv")
    return setting.how == "export" ? "export " + pair
                                   : ("setenv " + name + " " + value).str();
  StringRef how = setting.how;
  if (how.ends_with("--export")) // alone it takes all other variables away
    return "--export=ALL," + pair;
  // "mpiexec -x", "#PJM -x": an option in front of the assignment. The
  // directive is a line of its own, the option a part of one.
  if (how.starts_with("#"))
    return (how + " " + pair).str();
  if (size_t option = how.rfind(' '); option != StringRef::npos)
    return (how.substr(option + 1) + " " + pair).str();
  return pair;
}

/// Programs of the system that a script starts by the way, with a launcher or
/// a path: large pages and threads do not matter for them.
static bool isSystemTool(StringRef program) {
  StringRef name = baseName(program);
  static constexpr StringLiteral tools[] = {
      "cat",   "chmod",         "cp",       "date",     "df",      "echo",
      "env",   "false",         "fhetbo",   "find",     "free",    "grep",
      "gzip",  "hostname",      "id",       "ln",       "ls",      "lpgparm",
      "lscpu", "llio_transfer", "mkdir",    "mpgaudit", "mpginfo", "mv",
      "nproc", "numastat",      "printenv", "pwd",      "rm",      "rmdir",
      "rsync", "sed",           "sleep",    "tar",      "touch",   "true",
      "uname", "unzip",         "uptime",   "wc",       "which",   "xospastop"};
  return is_contained(tools, name) || program.starts_with("/usr/sbin/") ||
         program.starts_with("/sbin/");
}

static bool mentions(const JobScript &script, StringRef part) {
  auto has = [&](const std::string &text) {
    return StringRef(text).contains_insensitive(part);
  };
  return any_of(script.modules, has) ||
         any_of(script.directives,
                [&](const JobDirective &directive) {
                  return has(directive.value);
                }) ||
         any_of(script.settings, [&](const JobSetting &setting) {
           return has(setting.name) || has(setting.value.text);
         });
}

static Numbering findNumbering(const JobScript &script) {
  if (mentions(script, "fx700") || mentions(script, "ookami"))
    return Numbering::fx700;
  if (script.scheduler == Scheduler::pjm && !isForOtherMachine(script))
    return Numbering::fx1000;
  return Numbering::unknown;
}

/// What the user asked for; else what the job's programs are for, as far as
/// they are here; else what the script is for.
static Target decideTarget(const JobScript &script,
                           ArrayRef<LaunchedProgram> programs,
                           const JobSettings &settings) {
  if (settings.target)
    return *settings.target;
  std::optional<Target> first;
  for (const LaunchedProgram &program : programs) {
    if (!program.report || !program.report->readsAsProgram() ||
        isSystemTool(program.launch->program.text))
      continue;
    if (program.report->target == Target::fugaku)
      return Target::fugaku;
    first = first.value_or(program.report->target);
  }
  if (first)
    return *first;
  return isFugakuScript(script) ? Target::fugaku : Target::mpg;
}

JobContext::JobContext(const JobScript &script,
                       ArrayRef<LaunchedProgram> programs,
                       const JobSettings &settings, std::vector<Finding> &out)
    : script(script), settings(settings),
      target(decideTarget(script, programs, settings)),
      numbering(findNumbering(script)), out(out) {
  for (const JobSetting &setting : script.settings)
    bySetting[{setting.name, setting.line}] = &setting;
  for (const LaunchedProgram &program : programs)
    byLaunch[program.launch] = program.report;
  for (const JobLaunch &launch : script.launches)
    if (!isSystemTool(launch.program.text))
      launches.push_back(&launch);
}

bool JobContext::wants(FindingId id) const {
  if (settings.named.contains(id))
    return true;
  return settings.checks.contains(id) &&
         infoOf(id).severity[unsigned(target)] != Severity::off;
}

Finding &JobContext::add(FindingId id, unsigned line, const Twine &title) {
  return add(id, line, false, title);
}

Finding &JobContext::add(FindingId id, unsigned line, bool conditional,
                         const Twine &title) {
  const FindingInfo &info = infoOf(id);
  Finding finding = {};
  finding.id = id;
  finding.severity = std::max(info.severity[unsigned(target)], Severity::note);
  finding.title = title.str();
  if (conditional) {
    finding.severity = Severity(
        std::max(unsigned(finding.severity) - 1, unsigned(Severity::note)));
    finding.title += ", if this branch is taken";
  }
  finding.cost = info.cost.substr(0, info.cost.find("\n\n")).str();
  finding.where.line = line;
  out.push_back(std::move(finding));
  return out.back();
}

const FileReport *JobContext::reportOf(const JobLaunch &launch) const {
  auto at = byLaunch.find(&launch);
  return at == byLaunch.end() ? nullptr : at->second;
}

bool JobContext::isMissing(const JobLaunch &launch) const {
  auto at = byLaunch.find(&launch);
  return at != byLaunch.end() && !at->second;
}

StringRef mpg::fallbackOf(const EnvVariable &variable, Target target) {
  // docs/environment.md: ours falls back unless it is told not to.
  if (target == Target::fugaku && variable.name == "XOS_MMM_L_HUGETLB_FALLBACK")
    return "0";
  return variable.fallback;
}

JobValue JobContext::valueOf(const JobLaunch &launch, StringRef name) const {
  JobValue result;
  const EnvVariable *row = findEnvVariable(name);
  const Variable *variable = launch.launch.environment.find(name);
  result.text = row ? fallbackOf(*row, target) : "";
  if (!variable)
    return result;
  result.set = true;
  result.known = variable->known;
  result.line = variable->line;
  if (variable->known && (!row || isLegalValue(*row, variable->value)))
    result.text = variable->value;
  return result;
}

bool JobContext::largePages(const JobLaunch &launch) const {
  // Not known counts as on: that is the default and the usual case.
  return !valueOf(launch, "XOS_MMM_L_HPAGE_TYPE").is("none") &&
         !(target == Target::mpg && valueOf(launch, "MPG_MODE").is("none"));
}

bool JobContext::mayLoadLibmpg(const JobLaunch &launch) const {
  auto isLibmpg = [](StringRef path) { return isLibmpgName(baseName(path)); };
  if (const Variable *preload = launch.launch.environment.find("LD_PRELOAD"))
    if (!preload->known || StringRef(preload->value).contains("libmpg"))
      return true;
  for (const JobCommand &launcher : launch.launchers)
    if (!launcher.words.empty() && baseName(launcher.words[0].text) == "mpgrun")
      return true;
  const FileReport *report = reportOf(launch);
  if (report && report->closure)
    return any_of(report->closure->libraries, [&](const ClosureEntry &entry) {
      return isLibmpg(entry.name);
    });
  if (report && report->facts.dynamic)
    return any_of(report->facts.dynamic->needed, isLibmpg);
  // Fujitsu's compilers link it into every program.
  return target == Target::fugaku;
}

const JobSetting *JobContext::settingAt(StringRef name, unsigned line) const {
  auto at = bySetting.find({name, line});
  return at == bySetting.end() ? nullptr : at->second;
}

std::string JobContext::settingText(StringRef name, unsigned line) const {
  const JobSetting *setting = settingAt(name, line);
  return setting ? shortened(writeSetting(*setting, name, setting->value.text))
                 : "";
}
