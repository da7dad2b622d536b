// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Options.h"
#include "Audit/Report.h"
#include "Completion.h"
#include "ConfigurationWords.h"
#include "FindParts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <thread>
#include <unistd.h>

#include "../OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

/// Turns parsed arguments into Options. The first error is kept: the rest
/// usually follow from it.
class OptionReader {
public:
  explicit OptionReader(const InputArgList &args) : args(args) {}

  bool read(Options &options);
  const std::string &error() const { return reason; }

private:
  bool fail(const Twine &text) {
    if (reason.empty())
      reason = text.str();
    return false;
  }
  /// An option that takes one word of a list.
  template <typename T>
  bool readWord(OptionId id, StringRef name, T &value,
                ArrayRef<std::pair<StringRef, T>> words);
  bool readBytes(OptionId id, StringRef name, std::optional<uint64_t> &bytes);
  bool readPageSizes(AuditSettings &settings);
  bool readChecks(AuditSettings &settings);
  bool readCheckWord(StringRef word, bool first, AuditSettings &settings);
  bool readJobs(unsigned &jobs);
  bool readEnvironment(AuditSettings &settings);
  bool readMode(Options &options);
  bool readPid(std::optional<int> &pid);
  bool readPolicy(Options &options);
  bool readInputs(Options &options);

  const InputArgList &args;
  std::string reason;
};

} // namespace

/// "; did you mean 'json'?", or all words when none is close. A word of two
/// letters is close to anything, so the distance depends on the length.
template <typename T>
static std::string listWords(StringRef typed,
                             ArrayRef<std::pair<StringRef, T>> words) {
  std::string text = "; it is one of";
  StringRef nearest;
  unsigned least = unsigned(typed.size() / 3 + 1);
  for (const auto &[word, value] : words) {
    text += " " + word.str();
    bool begun = typed.size() >= 3 && word.starts_with_insensitive(typed);
    unsigned distance =
        begun ? 0 : typed.edit_distance_insensitive(word, true, least);
    if (distance < least) {
      least = distance;
      nearest = word;
    }
  }
  return nearest.empty() ? text : "; did you mean '" + nearest.str() + "'?";
}

template <typename T>
bool OptionReader::readWord(OptionId id, StringRef name, T &value,
                            ArrayRef<std::pair<StringRef, T>> words) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  for (const auto &[word, meaning] : words)
    if (word.equals_insensitive(arg->getValue())) {
      value = meaning;
      return true;
    }
  return fail("unknown value '" + Twine(arg->getValue()) + "' of " + name +
              listWords(arg->getValue(), words));
}

bool OptionReader::readBytes(OptionId id, StringRef name,
                             std::optional<uint64_t> &bytes) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return true;
  bytes = parseBytes(arg->getValue());
  if (bytes)
    return true;
  return fail("'" + Twine(arg->getValue()) + "' of " + name +
              " is no size; write it as 512M or 2G");
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
  uint64_t page = 0;
  if (!readWord<uint64_t>(OPT_page, "--page", page, pages) ||
      !readWord<uint64_t>(OPT_huge, "--huge", settings.hugeBytes, huges))
    return false;
  if (page)
    settings.pageBytes = page;
  return true;
}

bool OptionReader::readCheckWord(StringRef word, bool first,
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
    return fail(
        "unknown check '" + word +
        "' in --checks; give a group (layout loader heap tags hygiene job "
        "malformed) or a finding such as MPG103");
  }
  for (FindingId id : ids) {
    settings.named.erase(id);
    if (remove)
      settings.checks.erase(id);
    else
      (named ? settings.named : settings.checks).insert(id);
  }
  return true;
}

/// Several --checks are one list: the second does not undo the first.
bool OptionReader::readChecks(AuditSettings &settings) {
  bool first = true;
  for (const std::string &list : args.getAllArgValues(OPT_checks)) {
    SmallVector<StringRef, 8> words;
    StringRef(list).split(words, ',');
    for (StringRef word : words) {
      if (!readCheckWord(word, first, settings))
        return false;
      first = false;
    }
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
  return fail("'" + Twine(arg->getValue()) +
              "' of -j is no number of threads from 1 to 1024");
}

/// Nothing is known of how the program starts unless one of these is given.
bool OptionReader::readEnvironment(AuditSettings &settings) {
  if (!args.hasArg(OPT_env) && !args.hasArg(OPT_sysroot))
    return true;
  auto launch = std::make_shared<Launch>();
  launch->sysroot =
      StringRef(args.getLastArgValue(OPT_sysroot)).rtrim('/').str();
  if (args.hasArg(OPT_sysroot) && !sys::fs::is_directory(launch->sysroot + "/"))
    return fail("'" + Twine(args.getLastArgValue(OPT_sysroot)) +
                "' of --sysroot is no folder");
  for (StringRef word : args.getAllArgValues(OPT_env)) {
    auto [name, value] = word.split('=');
    if (name.empty() || !word.contains('='))
      return fail("'" + word + "' of --env is not NAME=VALUE");
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
  if (!chosen.empty() && args.hasArg(OPT_format) &&
      options.format != ReportFormat::text)
    return fail(chosen + " has only the format text");
  if (options.mode == RunMode::tree && args.hasArg(OPT_no_closure))
    return fail("--tree prints what --no-closure leaves out");
  return true;
}

bool OptionReader::readPid(std::optional<int> &pid) {
  const Arg *arg = args.getLastArg(OPT_pid);
  if (!arg)
    return true;
  int number = 0;
  if (StringRef(arg->getValue()).getAsInteger(10, number) || number <= 0)
    return fail("'" + Twine(arg->getValue()) + "' of --pid is no process");
  pid = number;
  return true;
}

bool OptionReader::readPolicy(Options &options) {
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

bool OptionReader::read(Options &options) {
  AuditSettings &settings = options.settings;
  settings.checks = defaultChecks();
  using Words = std::pair<StringRef, std::optional<Target>>;
  const Words targets[] = {{"fugaku", Target::fugaku},
                           {"mpg", Target::mpg},
                           {"libhugetlbfs", Target::libhugetlbfs},
                           {"thp", Target::thp},
                           {"auto", std::nullopt}};
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
  if (!readWord<std::optional<Target>>(OPT_target, "--target", settings.target,
                                       targets) ||
      !readWord<ReportFormat>(OPT_format, "--format", options.format,
                              formats) ||
      !readWord<std::optional<Severity>>(OPT_fail_on, "--fail-on",
                                         options.failOn, levels) ||
      !readPageSizes(settings) || !readBytes(OPT_min, "--min", minBytes) ||
      !readBytes(OPT_memory, "--memory", settings.memoryBytes) ||
      !readJobs(options.jobs) || !readChecks(settings) ||
      !readEnvironment(settings) || !readMode(options) ||
      !readPid(options.pid) || !readPolicy(options))
    return false;
  settings.minBytes = minBytes.value_or(settings.minBytes);
  settings.expectLibmpg = args.hasArg(OPT_expect_libmpg);
  settings.wantFacts = options.format != ReportFormat::line ||
                       options.mode != RunMode::report || args.hasArg(OPT_job);
  options.closure = args.hasFlag(OPT_closure, OPT_no_closure, true);
  options.recursive = args.hasArg(OPT_recursive);
  options.stats = args.hasArg(OPT_stats);
  return readInputs(options);
}

bool OptionReader::readInputs(Options &options) {
  options.job = args.getLastArgValue(OPT_job).str();
  options.operands = args.getAllArgValues(OPT_INPUT);
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

//===----------------------------------------------------------------------===//
// The parser
//===----------------------------------------------------------------------===//

static std::optional<Options> usageError(const Twine &text, int &status) {
  errs() << "mpgaudit: error: " << text
         << "\nmpgaudit --help lists the options\n";
  status = 2;
  return std::nullopt;
}

static void printHelp(const OptionTable &table) {
  table.printHelp(outs(), "mpgaudit [options] [--] FILE...",
                  "mpgaudit tells whether a program's data, heap and stacks "
                  "can be\non large pages, why not, and how to fix it");
  outs() << "\nFILE is a program, library, object or archive; @LIST is a file "
            "that names one\npath a line; with -r a directory.\n\n"
            "EXIT STATUS: 0 clean, 1 a finding at or above --fail-on, 2 usage "
            "error or\ninput that cannot be used\n";
}

static std::optional<Options>
explainCode(StringRef code, const InstalledParts &parts, int &status) {
  std::string page = explain(code, parts);
  if (page.empty())
    return usageError("no finding and no message is called '" + code +
                          "'; they look like MPG103 and \"LPG 2003\"",
                      status);
  outs() << page;
  status = 0;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The configuration file
//===----------------------------------------------------------------------===//

/// Whether the command line says something about \p key.
static bool isGiven(const InputArgList &args, StringRef key) {
  return any_of(args, [&](const Arg *arg) {
    StringRef name = arg->getOption().getUnaliasedOption().getName();
    name.consume_back("=");
    return name == key || (key == "closure" && name == "no-closure");
  });
}

/// "" when there is none to read.
static std::string chooseConfiguration(const InputArgList &args) {
  if (args.hasArg(OPT_no_config))
    return "";
  if (args.hasArg(OPT_config))
    return args.getLastArgValue(OPT_config).str();
  std::vector<std::string> files = args.getAllArgValues(OPT_INPUT);
  for (const std::string &operand : args.getAllArgValues(OPT_dash_dash))
    files.push_back(operand);
  StringRef first =
      !files.empty() ? StringRef(files.front()) : args.getLastArgValue(OPT_job);
  if (first.starts_with("@"))
    first = "";
  if (sys::fs::is_directory(first))
    return findConfiguration(first.str());
  StringRef folder = sys::path::parent_path(first);
  return findConfiguration(folder.empty() ? "." : folder.str());
}

/// \p commandLine behind the words of the configuration file, so that it wins.
static bool readWords(OptionTable &table, ArrayRef<ConfigurationWord> fromFile,
                      ArrayRef<const char *> commandLine, Options &options,
                      std::string &reason) {
  SmallVector<const char *, 32> words;
  for (const ConfigurationWord &word : fromFile)
    words.push_back(word.text.c_str());
  words.append(commandLine.begin(), commandLine.end());
  unsigned missingIndex = 0, missingCount = 0;
  InputArgList merged = table.ParseArgs(words, missingIndex, missingCount);
  OptionReader reader(merged);
  if (reader.read(options))
    return true;
  reason = reader.error();
  return false;
}

/// The command line, over what the configuration file says.
static bool readAll(OptionTable &table, const InputArgList &args,
                    ArrayRef<const char *> commandLine, Options &options,
                    std::string &reason) {
  std::string path = chooseConfiguration(args);
  if (path.empty())
    return readWords(table, {}, commandLine, options, reason);
  Expected<Configuration> configuration =
      readConfiguration(path, configurationKeys());
  if (!configuration) {
    reason = toString(configuration.takeError());
    return false;
  }
  std::vector<ConfigurationWord> words = wordsOf(
      *configuration, [&](StringRef key) { return isGiven(args, key); });
  // One word more at a time, to know whose fault an error is.
  for (size_t count = 0; count <= words.size(); ++count) {
    Options tried;
    tried.suppressions = configuration->suppressions;
    if (!readWords(table, ArrayRef(words).take_front(count), commandLine, tried,
                   reason)) {
      if (count)
        reason =
            path + ":" + std::to_string(words[count - 1].line) + ": " + reason;
      return false;
    }
    options = std::move(tried);
  }
  return true;
}

std::optional<Options> mpg::parseOptions(int argc, char **argv, int &status) {
  OptionTable table;
  unsigned missingIndex = 0, missingCount = 0;
  ArrayRef<const char *> words(argv + 1, size_t(argc - 1));
  // The last word may be anything.
  if (words.size() == 1 &&
      StringRef(words.front()).starts_with("--autocomplete=")) {
    outs() << completionsFor(table, StringRef(words.front()).split('=').second);
    status = 0;
    return std::nullopt;
  }
  // The parser passes over empty words: `mpgaudit "$app"` with a variable that
  // is not set would be clean as long as there is another file.
  if (is_contained(words, StringRef()))
    return usageError("an argument is empty; is a variable not set?", status);
  InputArgList args = table.ParseArgs(words, missingIndex, missingCount);
  status = 0;
  if (const Arg *arg = args.getLastArg(OPT_UNKNOWN))
    return usageError(describeUnknown(table, *arg, args), status);
  if (missingCount)
    return usageError(Twine("option '") + args.getArgString(missingIndex) +
                          "' needs a value",
                      status);
  if (args.hasArg(OPT_help)) {
    printHelp(table);
    return std::nullopt;
  }
  if (args.hasArg(OPT_version)) {
    outs() << "mpgaudit (mpgtools) " MPG_VERSION "\n";
    return std::nullopt;
  }
  if (const Arg *arg = args.getLastArg(OPT_explain))
    return explainCode(arg->getValue(), findParts(), status);
  Options options;
  std::string reason;
  if (!readAll(table, args, words, options, reason))
    return usageError(reason, status);
  options.settings.parts = std::make_shared<InstalledParts>(findParts());
  return options;
}
