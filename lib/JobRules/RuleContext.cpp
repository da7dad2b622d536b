// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RuleContext.h. How findings name commands and settings, which machine the
// script numbers its CPUs for, and what value a variable has at the start of a
// program.

#include "JobRules/RuleContext.h"
#include "Audit/ClosureFacts.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

StringRef mpg::baseName(StringRef path) {
  return path.substr(path.rfind('/') + 1);
}

std::string mpg::shortened(StringRef text, size_t shownBytes) {
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

std::string mpg::writeInstead(StringRef line, StringRef place) {
  return ("Write " + (place.empty() ? "" : "in " + place + " ") +
          "instead:\n  " + line)
      .str();
}

std::string mpg::writeSetting(const JobSetting &setting, StringRef name,
                              StringRef word) {
  std::string pair = (name + "=" + word).str();
  if (setting.how == "export" || setting.how == "setenv")
    return setting.how == "export" ? "export " + pair
                                   : ("setenv " + name + " " + word).str();
  StringRef how = setting.how;
  if (how == "--env") // of mpgaudit
    return "--env=" + pair;
  if (how.ends_with("--export")) // alone it takes all other variables away
    return "--export=ALL," + pair;
  // "mpiexec -x", "#PJM -x": an option in front of the assignment. The
  // directive fills a line, the option is a part of one.
  if (how.starts_with("#"))
    return (how + " " + pair).str();
  if (size_t option = how.rfind(' '); option != StringRef::npos)
    return (how.substr(option + 1) + " " + pair).str();
  return pair;
}

std::string mpg::writeSetting(const JobSetting &setting, StringRef name) {
  const JobWord &value = setting.value;
  // Unknown text keeps "$N" as it is. The shell does not read directives.
  bool isDirective = StringRef(setting.how).starts_with("#");
  bool isPlain = value.text.empty() || !value.known() || isDirective;
  bool isQuoted =
      !isDirective && !value.known() && StringRef(value.text).contains(' ');
  return writeSetting(setting, name,
                      isQuoted  ? "\"" + value.text + "\""
                      : isPlain ? value.text
                                : shellWord(value.text));
}

bool mpg::isSystemTool(StringRef program) {
  StringRef name = baseName(program);
  static constexpr StringLiteral tools =
      "cat chmod cp date df echo env false fhetbo find free grep gzip "
      "hostname id ln ls lpgparm lscpu llio_transfer mkdir mpgaudit mpginfo "
      "mv nproc numastat printenv pwd rm rmdir rsync sed sleep tar touch true "
      "uname unzip uptime wc which xospastop";
  return hasWord(tools, name) || program.starts_with("/usr/sbin/") ||
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

/// The user's choice; else the target of the job's programs that were found;
/// else that of the script.
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
         getInfo(id).severity[unsigned(target)] != Severity::off;
}

Finding &JobContext::add(FindingId id, unsigned line, const Twine &title) {
  return add(id, line, false, title);
}

Finding &JobContext::add(FindingId id, unsigned line, bool conditional,
                         const Twine &title) {
  const FindingInfo &info = getInfo(id);
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
  if (line) // what --env says is in none
    finding.where.line = line;
  out.push_back(std::move(finding));
  return out.back();
}

Finding &JobContext::add(FindingId id, const JobLaunch &launch, StringRef name,
                         const Variable &variable, StringRef sub,
                         const Twine &title) {
  const JobSetting *setting = settingAt(name, variable.line);
  Finding &finding =
      add(id, variable.line ? variable.line : launch.line,
          launch.conditional || (setting && setting->conditional), title);
  finding.sub = sub.str();
  finding.where.symbol = name.str();
  finding.evidence =
      setting ? settingText(name, variable.line) : launchText(launch);
  return finding;
}

const FileReport *JobContext::findReport(const JobLaunch &launch) const {
  auto at = byLaunch.find(&launch);
  return at == byLaunch.end() ? nullptr : at->second;
}

bool JobContext::isMissing(const JobLaunch &launch) const {
  auto at = byLaunch.find(&launch);
  return at != byLaunch.end() && !at->second;
}

StringRef mpg::findFallback(const EnvVariable &variable, Target target) {
  // docs/environment.md: ours falls back by default.
  if (target == Target::fugaku && variable.name == "XOS_MMM_L_HUGETLB_FALLBACK")
    return "0";
  return variable.fallback;
}

JobValue JobContext::getValue(const JobLaunch &launch, StringRef name) const {
  JobValue result;
  const EnvVariable *row = findEnvVariable(name);
  const Variable *variable = launch.launch.environment.find(name);
  result.text = row ? findFallback(*row, target) : "";
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
  return pageSwitch(launch.launch, target) == PageSwitch::on;
}

bool JobContext::mayLoadLibmpg(const JobLaunch &launch) const {
  auto isLibmpg = [](StringRef path) { return isLibmpgName(baseName(path)); };
  if (const Variable *preload = launch.launch.environment.find("LD_PRELOAD"))
    if (StringRef(preload->value).contains("libmpg"))
      return true;
  for (const JobCommand &launcher : launch.launchers)
    if (!launcher.words.empty() && baseName(launcher.words[0].text) == "mpgrun")
      return true;
  const FileReport *report = findReport(launch);
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
  return setting ? shortened(writeSetting(*setting, name)) : "";
}

// The table of environment variables. The words of env.def for a domain, such
// as "1..255", as rules for values.

static constexpr EnvVariable table[] = {
#define MPG_ENV(name, type, domain, fallback, needs, overridden, owner, help)  \
  {#name, EnvType::type, domain, fallback, needs, overridden, EnvOwner::owner},
#include "mpg/env.def"
};

ArrayRef<EnvVariable> mpg::allEnvVariables() { return table; }

const EnvVariable *mpg::findEnvVariable(StringRef name) {
  for (const EnvVariable &variable : table)
    if (variable.name == name)
      return &variable;
  return nullptr;
}

/// Names here are short; what is longer is near to nothing.
static constexpr size_t longestName = 64;

unsigned mpg::editDistance(StringRef a, StringRef b) {
  if (a.size() > longestName || b.size() > longestName)
    return longestName;
  return a.edit_distance(b);
}

const EnvVariable *mpg::nearestEnvVariable(StringRef name) {
  const EnvVariable *nearest = nullptr;
  unsigned min = 5;                    // as libmpg has it
  constexpr unsigned forgottenEnd = 3; // "_TYPE", as libmpg has it
  if (name.size() > longestName)
    return nullptr;
  for (const EnvVariable &variable : table) {
    // Stops where it cannot become the least any more.
    unsigned here = name.edit_distance(variable.name,
                                       /*AllowReplacements=*/true, min - 1);
    StringRef end = variable.name;
    if (end.consume_front(name) && end.starts_with("_"))
      here = std::min(here, forgottenEnd);
    if (here < min) {
      min = here;
      nearest = &variable;
    }
    if (min == 0)
      break;
  }
  return nearest;
}

std::optional<uint64_t> mpg::parseEnvNumber(StringRef text) {
  unsigned base = 10;
  if (text.consume_front("0x") || text.consume_front("0X"))
    base = 16;
  uint64_t value;
  // getAsInteger would take a sign.
  if (text.empty() || !isHexDigit(text[0]) || text.getAsInteger(base, value))
    return std::nullopt;
  return value;
}

/// "1..255", "0.."
static bool isInRange(StringRef domain, StringRef text) {
  auto [min, max] = domain.split("..");
  std::optional<uint64_t> value = parseEnvNumber(text);
  return value && *value >= parseEnvNumber(min).value_or(0) &&
         *value <= parseEnvNumber(max).value_or(UINT64_MAX);
}

static bool isChoice(StringRef domain, StringRef text) {
  return is_contained(split(domain, '|'), text);
}

static bool arePolicies(StringRef domain, StringRef text) {
  SmallVector<StringRef, 4> fields;
  text.split(fields, ':');
  return fields.size() == 3 && all_of(fields, [&](StringRef field) {
           return isChoice(domain, field);
         });
}

bool mpg::isLegalValue(const EnvVariable &variable, StringRef text) {
  switch (variable.type) {
  case EnvType::choice:
    return isChoice(variable.domain, text);
  case EnvType::uint:
    return isInRange(variable.domain, text);
  case EnvType::policy3:
    return arePolicies(variable.domain, text);
  case EnvType::file: {
    auto [device, inode] = text.split(':');
    return parseEnvNumber(device) && parseEnvNumber(inode);
  }
  case EnvType::pair: {
    auto [first, second] = text.split(',');
    auto [firstDomain, secondDomain] = variable.domain.split(',');
    return isInRange(firstDomain, first) && isInRange(secondDomain, second);
  }
  }
  return false;
}

/// "demand" is demand for all three; a missing third word is as the second.
static std::string nearestPolicy(const EnvVariable &variable, StringRef text) {
  SmallVector<StringRef, 4> fields;
  text.split(fields, ':', -1, /*KeepEmpty=*/false);
  if (fields.empty())
    return variable.fallback.str();
  fields.resize(3, fields.back());
  std::string policy;
  for (StringRef field : fields) {
    bool demand =
        editDistance(field, "demand") <= editDistance(field, "prepage");
    policy += (policy.empty() ? "" : ":");
    policy += demand ? "demand" : "prepage";
  }
  return policy;
}

static std::string nearestWord(const EnvVariable &variable, StringRef text) {
  auto isOff = [](StringRef word) {
    return hasWord("0 off no none false disable", word.lower());
  };
  bool isOn = hasWord("1 on yes true enable", text.lower());
  if (isChoice(variable.domain, "on")) // 0|1|off|on
    return isOn ? "on" : "off";
  StringRef nearest = variable.fallback;
  if (isOn && !isOff(nearest))
    return nearest.str();
  for (StringRef word : split(variable.domain, '|'))
    if (isOff(word) ? isOff(text) : isOn)
      return word.str();
  unsigned min = 4;
  for (StringRef word : split(variable.domain, '|'))
    if (unsigned here = editDistance(text.lower(), word.lower());
        here < min && here < word.size()) {
      min = here;
      nearest = word;
    }
  return nearest.str();
}

std::string mpg::nearestValue(const EnvVariable &variable, StringRef text) {
  text = text.trim();
  switch (variable.type) {
  case EnvType::choice:
    return nearestWord(variable, text);
  case EnvType::policy3:
    return nearestPolicy(variable, text);
  case EnvType::uint:
    // "200K" is what a user means by it.
    if (std::optional<uint64_t> bytes = parseBytes(text))
      if (isInRange(variable.domain, std::to_string(*bytes)))
        return std::to_string(*bytes);
    break;
  case EnvType::file:
  case EnvType::pair:
    break;
  }
  return variable.fallback.str();
}
