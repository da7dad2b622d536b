// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of a run's options: from ConfiguredOptions to Options.

#include "Audit/Audit.h"
#include "OptionIds.h"
#include "Options.h"
#include "Support/Format.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <thread>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// The error in \p word, or "". A finding that the user names is reported even
/// where a target would hide it; one of a named group is not.
static std::string readCheck(StringRef word, bool first,
                             AuditSettings &settings) {
  char sign = word.empty() ? 0 : word.front();
  bool remove = sign == '-';
  if (sign == '+' || sign == '-')
    word = word.drop_front();
  else if (first)
    settings.checks.clear(); // a list without signs replaces the default
  std::vector<FindingId> ids;
  bool named = false;
  unsigned number = 0;
  if (std::optional<FindingGroup> group = parseGroup(word)) {
    for (const FindingInfo &info : allFindings())
      if (info.group == *group && defaultChecks().contains(info.id))
        ids.push_back(info.id);
  } else if (word.starts_with_insensitive("MPG") &&
             !word.drop_front(3).getAsInteger(10, number) && findInfo(number)) {
    ids.push_back(FindingId(number));
    named = true;
  } else {
    return "unknown check '" + word.str() +
           "' in --checks; give a group (layout loader heap tags hygiene job "
           "malformed) or a finding such as MPG103";
  }
  for (FindingId id : ids) {
    settings.named.erase(id);
    if (remove)
      settings.checks.erase(id);
    else
      (named ? settings.named : settings.checks).insert(id);
  }
  return "";
}

namespace {

/// Turns parsed arguments into Options. The first error is kept: the rest
/// usually follow from it.
class OptionReader {
public:
  explicit OptionReader(const ConfiguredOptions &configured)
      : configured(configured), args(configured.args()) {}

  bool read(Options &options);
  const std::string &error() const { return reason; }

private:
  bool fail(const Twine &text) {
    reason = text.str();
    return false;
  }
  /// Because of \p arg, whose value is not understood or does not go with the
  /// rest; says where it stands.
  bool fail(const Arg *arg, const Twine &text) {
    return fail(configured.getPlace(arg) + text);
  }
  /// "'VALUE' of --option"
  static std::string quote(const Arg *arg) {
    return ("'" + Twine(arg->getValue()) + "' of " +
            arg->getSpelling().rtrim('='))
        .str();
  }
  /// An option that takes one word of a list.
  template <typename T>
  bool readWord(OptionId id, T &value, ArrayRef<std::pair<StringRef, T>> words);
  bool readBytes(OptionId id, std::optional<uint64_t> &bytes);
  bool readTarget(AuditSettings &settings);
  bool readPageSizes(AuditSettings &settings);
  bool readChecks(AuditSettings &settings);
  bool readJobs(unsigned &jobs);
  bool readEnvironment(AuditSettings &settings);
  void readVerbose(Options &options);
  bool readColour(Options &options);
  bool readMode(Options &options);
  bool readNames();
  bool readPid(std::optional<int> &pid);
  bool readPolicy(Options &options);
  bool readInputs(Options &options);

  const ConfiguredOptions &configured;
  const ArgList &args;
  std::string reason;
};

} // namespace

template <typename T>
bool OptionReader::readWord(OptionId id, T &value,
                            ArrayRef<std::pair<StringRef, T>> words) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  for (const auto &[word, meaning] : words)
    if (word.equals_insensitive(arg->getValue())) {
      value = meaning;
      return true;
    }
  std::vector<StringRef> names;
  for (const auto &[word, meaning] : words)
    names.push_back(word);
  return fail(arg, "unknown value " + quote(arg) +
                       suggestValue(arg->getValue(), names));
}

bool OptionReader::readBytes(OptionId id, std::optional<uint64_t> &bytes) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  bytes = parseBytes(arg->getValue());
  if (bytes)
    return true;
  return fail(arg, quote(arg) + " is not a size; write it as 512M or 2G");
}

bool OptionReader::readTarget(AuditSettings &settings) {
  static constexpr StringLiteral monaka = "monaka";
  const std::pair<StringRef, std::optional<Target>> targets[] = {
      {"fugaku", Target::fugaku},
      {"mpg", Target::mpg},
      {"libhugetlbfs", Target::libhugetlbfs},
      {"thp", Target::thp},
      {monaka, Target::mpg},
      {"auto", std::nullopt}};
  settings.onMonaka =
      monaka.equals_insensitive(args.getLastArgValue(OPT_target));
  return readWord<std::optional<Target>>(OPT_target, settings.target, targets);
}

bool OptionReader::readPageSizes(AuditSettings &settings) {
  constexpr uint64_t k = 1 << 10, m = 1 << 20, g = 1 << 30;
  const std::pair<StringRef, uint64_t> pages[] = {
      {"4K", 4 * k}, {"16K", 16 * k}, {"64K", 64 * k}};
  const std::pair<StringRef, uint64_t> huges[] = {{"2M", 2 * m},
                                                  {"32M", 32 * m},
                                                  {"512M", 512 * m},
                                                  {"1G", g},
                                                  {"16G", 16 * g}};
  // Only sizes that kernels have: 3M or 2 would be a mistake that gets an
  // answer.
  uint64_t page = 0;
  if (!readWord<uint64_t>(OPT_page, page, pages) ||
      !readWord<uint64_t>(OPT_huge, settings.hugeBytes, huges))
    return false;
  if (page)
    settings.pageBytes = page;
  else if (settings.onMonaka) // the larger one of two, HW:monaka
    settings.pageBytes = 64 * k;
  return true;
}

/// Applies lists such as "layout,+heap,-MPG103". Several are one list: the
/// second does not undo the first.
bool OptionReader::readChecks(AuditSettings &settings) {
  bool first = true;
  for (const Arg *arg : args.filtered(OPT_checks))
    for (StringRef word : split(arg->getValue(), ',')) {
      std::string problem = readCheck(word, first, settings);
      if (!problem.empty())
        return fail(arg, problem);
      first = false;
    }
  return true;
}

bool OptionReader::readJobs(unsigned &jobs) {
  jobs = std::max(1u, std::thread::hardware_concurrency());
  const Arg *arg = args.getLastArg(OPT_jobs);
  if (!arg)
    return true;
  if (!StringRef(arg->getValue()).getAsInteger(10, jobs) && jobs >= 1 &&
      jobs <= 1024)
    return true;
  return fail(arg, "'" + Twine(arg->getValue()) +
                       "' of -j is not a number of threads from 1 to 1024");
}

bool OptionReader::readColour(Options &options) {
  const std::pair<StringRef, std::optional<bool>> words[] = {
      {"auto", std::nullopt}, {"always", true}, {"never", false}};
  return readWord<std::optional<bool>>(OPT_color, options.colour, words);
}

/// Users who ask for all also see what a target hides.
void OptionReader::readVerbose(Options &options) {
  options.verbose = args.hasArg(OPT_verbose);
  if (!options.verbose)
    return;
  AuditSettings &settings = options.settings;
  settings.allCompilers = true;
  for (FindingId id : {FindingId::mpg102, FindingId::mpg103, FindingId::mpg161})
    if (settings.checks.contains(id))
      settings.named.insert(id);
}

/// Nothing is known of how the program starts unless one of these is given.
bool OptionReader::readEnvironment(AuditSettings &settings) {
  if (!args.hasArg(OPT_env) && !args.hasArg(OPT_sysroot))
    return true;
  auto launch = std::make_shared<Launch>();
  launch->sysroot =
      StringRef(args.getLastArgValue(OPT_sysroot)).rtrim('/').str();
  if (const Arg *arg = args.getLastArg(OPT_sysroot))
    if (!sys::fs::is_directory(launch->sysroot + "/"))
      return fail(arg, quote(arg) + " is not a folder");
  for (const Arg *arg : args.filtered(OPT_env)) {
    StringRef word = arg->getValue();
    auto [name, value] = word.split('=');
    if (name.empty() || !word.contains('='))
      return fail(arg, quote(arg) + " is not NAME=VALUE");
    Variable variable;
    variable.value = value.str();
    launch->environment.set(name, variable);
  }
  settings.launch = std::move(launch);
  return true;
}

bool OptionReader::readMode(Options &options) {
  const std::pair<OptionId, RunMode> modes[] = {
      {OPT_tree, RunMode::tree},
      {OPT_recommend, RunMode::recommend},
      {OPT_forecast, RunMode::forecast},
      {OPT_diff, RunMode::diff}};
  StringRef chosen;
  for (auto [id, mode] : modes) {
    const Arg *arg = args.getLastArg(id);
    if (!arg)
      continue;
    if (!chosen.empty())
      return fail(chosen + " and " + arg->getSpelling() +
                  " print different things; give one of them");
    chosen = arg->getSpelling();
    options.mode = mode;
  }
  bool isJson = options.format == ReportFormat::json ||
                options.format == ReportFormat::jsonl;
  if (options.mode == RunMode::recommend && isJson)
    return true;
  if (options.mode == RunMode::forecast && options.format == ReportFormat::json)
    return true;
  if (!chosen.empty() && options.format != ReportFormat::text)
    return fail(args.getLastArg(OPT_format),
                chosen + (options.mode == RunMode::recommend
                              ? " has the formats text, json and jsonl"
                          : options.mode == RunMode::forecast
                              ? " has the formats text and json"
                              : " has only the format text"));
  if (options.mode == RunMode::tree && args.hasArg(OPT_no_closure))
    return fail(args.getLastArg(OPT_no_closure),
                "--tree prints what --no-closure leaves out");
  if (options.mode == RunMode::diff)
    if (const Arg *arg = args.getLastArg(OPT_baseline, OPT_write_baseline))
      return fail(chosen + " and " + arg->getSpelling().rtrim('=') +
                  " do not go together: two builds are compared with each "
                  "other, and not with a baseline");
  return true;
}

bool OptionReader::readPid(std::optional<int> &pid) {
  const Arg *arg = args.getLastArg(OPT_pid);
  if (!arg)
    return true;
  int number = 0;
  if (StringRef(arg->getValue()).getAsInteger(10, number) || number <= 0)
    return fail(quote(arg) + " is not a process");
  pid = number;
  return true;
}

bool OptionReader::readPolicy(Options &options) {
  options.suppressions = configured.suppressions;
  for (StringRef text : args.getAllArgValues(OPT_suppress)) {
    Expected<Suppression> entry = parseSuppression(text);
    if (!entry)
      return fail(toString(entry.takeError()));
    options.suppressions.push_back(std::move(*entry));
  }
  options.baseline = args.getLastArgValue(OPT_baseline).str();
  options.writeBaseline = args.getLastArgValue(OPT_write_baseline).str();
  return true;
}

/// `--job="$script"` with a variable that is not set would be no job.
bool OptionReader::readNames() {
  for (const Arg *arg :
       args.filtered(OPT_job, OPT_config, OPT_baseline, OPT_write_baseline,
                     OPT_sysroot, OPT_profile, OPT_report_from))
    if (StringRef(arg->getValue()).empty())
      return fail(arg->getSpelling() +
                  ": names no file; is a variable not set?");
  return true;
}

bool OptionReader::read(Options &options) {
  AuditSettings &settings = options.settings;
  settings.checks = defaultChecks();
  const std::pair<StringRef, ReportFormat> formats[] = {
      {"text", ReportFormat::text},   {"line", ReportFormat::line},
      {"json", ReportFormat::json},   {"jsonl", ReportFormat::jsonl},
      {"sarif", ReportFormat::sarif}, {"html", ReportFormat::html}};
  const std::pair<StringRef, std::optional<Severity>> levels[] = {
      {"error", Severity::error},
      {"warning", Severity::warning},
      {"note", Severity::note},
      {"never", std::nullopt}};
  std::optional<uint64_t> minBytes;
  if (!readNames() || !readTarget(settings) ||
      !readWord<ReportFormat>(OPT_format, options.format, formats) ||
      !readColour(options) ||
      !readWord<std::optional<Severity>>(OPT_fail_on, options.failOn, levels) ||
      !readPageSizes(settings) || !readBytes(OPT_min, minBytes) ||
      !readBytes(OPT_memory, settings.memoryBytes) || !readJobs(options.jobs) ||
      !readChecks(settings) || !readEnvironment(settings) ||
      !readMode(options) || !readPid(options.pid) || !readPolicy(options))
    return false;
  readVerbose(options);
  settings.minBytes = minBytes.value_or(settings.minBytes);
  settings.expectLibmpg = args.hasArg(OPT_expect_libmpg);
  options.requireLargePages = args.hasArg(OPT_require_large_pages);
  // Facts cost reads of the file that lines of findings do not need.
  settings.wantFacts = options.format != ReportFormat::line ||
                       options.mode != RunMode::report || args.hasArg(OPT_job);
  options.closure = args.hasFlag(OPT_closure, OPT_no_closure, true);
  options.recursive = args.hasArg(OPT_recursive);
  options.stats = args.hasArg(OPT_stats);
  return readInputs(options);
}

bool OptionReader::readInputs(Options &options) {
  options.job = args.getLastArgValue(OPT_job).str();
  options.profiles = args.getAllArgValues(OPT_profile);
  if (!options.profiles.empty() && options.mode != RunMode::recommend)
    return fail("--profile is for --recommend: give both");
  options.reports = args.getAllArgValues(OPT_report_from);
  if (!options.reports.empty() && options.mode != RunMode::forecast)
    return fail("--report-from is for --forecast: give both");
  options.operands = args.getAllArgValues(OPT_INPUT);
  // After "--" also names that begin with a dash.
  for (const std::string &operand : args.getAllArgValues(OPT_dash_dash))
    options.operands.push_back(operand);
  for (const std::string &list : args.getAllArgValues(OPT_files0_from))
    options.files0From.push_back(list);
  if (args.hasArg(OPT_null_input))
    options.files0From.push_back("-");
  bool none = options.operands.empty() && options.files0From.empty();
  if (none && options.job.empty() && !options.pid)
    return fail("no file given");
  if (options.mode == RunMode::diff &&
      (options.operands.size() != 2 || !options.files0From.empty() ||
       !options.job.empty() || options.pid))
    return fail("--diff compares two files: mpgaudit --diff BEFORE AFTER");
  if (options.pid && (!none || !options.job.empty()))
    return fail("--pid audits one process; give no file and no script with it");
  return true;
}

std::string mpg::readOptions(const ConfiguredOptions &configured,
                             Options &options) {
  OptionReader reader(configured);
  return reader.read(options) ? "" : reader.error();
}
