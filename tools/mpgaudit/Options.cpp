// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h. Answers --help and --explain at once, and completes words
// when Tab is pressed. ConfiguredOptions puts the rest of the command line
// over the configuration file, and OptionReader gives the words their
// meaning.

#include "Options.h"
#include "Audit/Audit.h"
#include "Audit/Finding.h"
#include "CommandLine.h"
#include "OptionIds.h"
#include "OptionTable.inc"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <unistd.h>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// Relative to this program, where they exist: a test runs a copy of it alone,
/// and a build with LLVM 19 has no ld.mpg.
static InstalledParts findParts() {
  std::optional<std::string> self = readLinkTarget("/proc/self/exe");
  if (!self)
    return {};
  StringRef folder = StringRef(*self).rsplit('/').first;
  auto find = [](StringRef folder, StringRef name) {
    std::string path = (folder + "/" + name).str();
    return access(path.c_str(), R_OK) == 0 ? path : "";
  };
  InstalledParts parts;
  parts.linker = find(folder, "ld.mpg");
  std::string shared = folder.rsplit('/').first.str() + "/share/mpgtools";
  if (!find(shared, "ld/ld").empty())
    parts.gccFolder = shared + "/ld";
  parts.lldScript = find(shared, "mpg-2mb.lld.ld");
  parts.bfdScript = find(shared, "mpg-2mb.bfd.ld");
  std::string libraries = folder.rsplit('/').first.str() + "/lib";
  if (!find(libraries, "libmpgrt.so").empty())
    parts.libraries = libraries;
  return parts;
}

static std::string withSign(StringRef code) {
  std::string text = code.str();
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

/// \p start is the prefix of the finding: "--suppress=".
static void addFindings(std::string &lines, StringRef start, StringRef typed) {
  for (const FindingInfo &info : allFindings())
    addCompletion(lines, start + idText(info.id), typed, info.summary);
}

/// Only the last of a list, after its sign, is completed.
static void addChecks(std::string &lines, StringRef option, StringRef typed) {
  StringRef list = typed.drop_front(option.size());
  size_t begin = list.rfind(',') == StringRef::npos ? 0 : list.rfind(',') + 1;
  if (begin < list.size() && (list[begin] == '+' || list[begin] == '-'))
    ++begin;
  StringRef start = typed.take_front(option.size() + begin);
  for (unsigned i = 0; i <= unsigned(FindingGroup::malformed); ++i)
    addCompletion(lines, start + groupName(FindingGroup(i)), typed,
                  "all findings of this group");
  addFindings(lines, start, typed);
}

/// Every word that \p typed may become, one a line, followed by a tab and a
/// short description where there is one. Nothing where the shell knows better:
/// for files and numbers.
static std::string completionsFor(const OptTable &table, StringRef typed) {
  std::string lines;
  size_t sign = typed.find('=');
  StringRef option = typed.take_front(sign + 1); // npos + 1 is 0
  if (option == "--checks=") {
    addChecks(lines, option, typed);
  } else if (option == "--suppress=") {
    addFindings(lines, option, typed);
  } else if (option == "--explain=") {
    addFindings(lines, option, typed);
    // --explain takes LPG-2003 too, which needs no quotes.
    for (const VendorCode &code : allVendorCodes())
      addCompletion(lines, option + withSign(code.code), typed, code.meaning);
  } else {
    lines = completeOption(table, typed);
  }
  return lines;
}

static const ProgramText programText = {
    "mpgaudit", "mpgaudit [options] [--] FILE...",
    "mpgaudit prints whether a program's data, heap and stacks can use\nlarge "
    "pages, why not, and how to fix it",
    "\nFILE is a program, library, object or archive; with -r a directory. "
    "@LIST is a\nfile with one path a line.\n\n"
    "EXIT STATUS: 0 clean, 1 a finding at or above --fail-on, 2 usage error "
    "or\nunusable input, 3 none of these, but mpgaudit did not understand how "
    "the job\nscript starts some programs\n"};

static std::nullopt_t explainCode(StringRef code, const CommandLine &line,
                                  int &status) {
  std::string page = explain(code, findParts());
  if (page.empty())
    return line.usageError(
        "'" + code +
            "' is not known here; write a finding, a message or a word of "
            "Fujitsu's compilers: MPG103, \"LPG 2003\", -Kzfill",
        status);
  outs() << page;
  return std::nullopt;
}

std::optional<Options> mpg::parseOptions(int argc, char **argv, int &status) {
  OptionTable table;
  ArrayRef<const char *> words(argv + 1, size_t(argc - 1));
  // The last word may be anything.
  if (words.size() == 1 &&
      StringRef(words.front()).starts_with("--autocomplete=")) {
    outs() << completionsFor(table, StringRef(words.front()).split('=').second);
    status = 0;
    return std::nullopt;
  }
  CommandLine line(table, programText, words);
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  if (const Arg *arg = line.args().getLastArg(OPT_explain))
    return explainCode(arg->getValue(), line, status);
  Options options;
  ConfiguredOptions configured(table, line.args());
  if (Error error = configured.read())
    return line.usageError(toString(std::move(error)), status);
  std::string problem = readOptions(configured, options);
  if (!problem.empty())
    return line.usageError(problem, status);
  options.settings.parts = std::make_shared<InstalledParts>(findParts());
  return options;
}

// Configuration files. The site's file is read first, then the project's; the
// command line wins over both, but for the keys that the site has locked.

/// The administrator's settings for all users of the machine. Keys that its
/// "locked" names hold whatever the project and the command line set.
static constexpr char siteFile[] = "/etc/mpgtools/mpgaudit.yaml";
static constexpr char lockedKey[] = "locked";

/// "target" of --target=.
static StringRef getName(const Option &option) {
  return option.getUnaliasedOption().getName().rtrim('=');
}

/// The key that \p option is about: "closure" for --no-closure.
static StringRef getKey(const Option &option) {
  StringRef name = getName(option);
  name.consume_front("no-");
  return name;
}

/// Calls \p use with each option that a file may have.
static void forEachKey(const OptTable &table,
                       function_ref<void(const Option &)> use) {
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (Option option = table.getOption(id); option.hasFlag(fileKey))
      use(option);
}

static Error failure(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

Expected<Configuration> ConfiguredOptions::readFile(const std::string &path,
                                                    bool mayLock) const {
  SmallVector<ConfigurationKey, 24> keys;
  forEachKey(table, [&](const Option &option) {
    keys.push_back({getName(option), option.getKind() == Option::FlagClass,
                    option.hasFlag(fileList), option.hasFlag(filePath)});
  });
  if (mayLock)
    keys.push_back({lockedKey});
  return readConfiguration(path, keys);
}

bool ConfiguredOptions::isLocked(StringRef key) const {
  return is_contained(locked, key);
}

/// True if the command line sets \p key. --diff sets one: no
/// baseline.
bool ConfiguredOptions::isGiven(StringRef key) const {
  return any_of(commandLine, [&](const Arg *arg) {
    return getKey(arg->getOption()) == key ||
           (key == "baseline" && arg->getOption().matches(OPT_diff));
  });
}

/// The option called \p name; one that is not valid if there is none.
static Option findOption(const OptTable &table, const Twine &name) {
  std::string text = name.str();
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (Option option = table.getOption(id);
        !option.getAlias().isValid() && getName(option) == text)
      return option;
  return table.getOption(OPT_INVALID);
}

void ConfiguredOptions::add(const Configuration &file,
                            const Configuration::Entry &entry) {
  Option option = findOption(table, entry.key);
  bool isSwitch = option.getKind() == Option::FlagClass;
  if (isSwitch && entry.value == "false")
    option = findOption(table, "no-" + entry.key);
  if (!option.isValid())
    return; // off, as it is without the file
  Arg *arg = isSwitch ? all.MakeFlagArg(nullptr, option)
                      : all.MakeJoinedArg(nullptr, option, entry.value);
  all.append(arg);
  places[arg] = file.path + ":" + std::to_string(entry.line) + ": ";
}

/// Notes what the line "locked" of \p site names.
Error ConfiguredOptions::lock(const Configuration &site) {
  SmallVector<StringRef, 24> keys = {"suppress", lockedKey};
  forEachKey(table,
             [&](const Option &option) { keys.push_back(getName(option)); });
  for (const Configuration::Entry &entry : site.entries) {
    SmallVector<StringRef, 8> names;
    if (entry.key == lockedKey)
      SplitString(entry.value, names, " ,");
    for (StringRef key : names) {
      if (!is_contained(keys, key))
        return failure(siteFile + (": " + Twine(lockedKey)) +
                       ": no key is called '" + printable(key) + "'");
      locked.push_back(key.str());
      if (isGiven(key))
        errs() << "mpgaudit: note: --" << key << " is set by " << siteFile
               << "; that of the command line is not taken\n";
    }
  }
  return Error::success();
}

Error ConfiguredOptions::readSite() {
  sys::fs::file_status status;
  // One that is there and cannot be read is an error: it may lock keys.
  if (sys::fs::status(siteFile, status, /*follow=*/false) ==
      std::errc::no_such_file_or_directory)
    return Error::success();
  Expected<Configuration> site = readFile(siteFile, /*mayLock=*/true);
  if (!site)
    return site.takeError();
  if (Error error = lock(*site))
    return error;
  for (const Configuration::Entry &entry : site->entries)
    if (entry.key != lockedKey &&
        (isLocked(entry.key) || entry.key == "env" || !isGiven(entry.key)))
      add(*site, entry);
  suppressions = site->suppressions;
  return Error::success();
}

/// What \p path, the project's file, adds to it. Variables are a set: those of
/// the command line come to them.
Error ConfiguredOptions::readProject(const std::string &path) {
  Expected<Configuration> project = readFile(path, /*mayLock=*/false);
  if (!project)
    return project.takeError();
  for (const Configuration::Entry &entry : project->entries)
    if (!isLocked(entry.key) && (entry.key == "env" || !isGiven(entry.key)))
      add(*project, entry);
  if (!isLocked("suppress"))
    append_range(suppressions, project->suppressions);
  return Error::success();
}

static std::string findFrom(const std::string &folder) {
  std::vector<std::string> foreign;
  std::string path = findConfiguration(folder, &foreign);
  for (const std::string &file : foreign)
    errs() << "mpgaudit: warning: " << printable(file)
           << " belongs to another user and is not taken; --config=FILE takes "
              "it\n";
  return path;
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
    return findFrom(first.str());
  StringRef folder = sys::path::parent_path(first);
  return findFrom(folder.empty() ? "." : folder.str());
}

Error ConfiguredOptions::read() {
  if (Error error = readSite())
    return error;
  std::string path = chooseConfiguration(commandLine);
  if (!path.empty())
    if (Error error = readProject(path))
      return error;
  for (Arg *arg : commandLine)
    if (!isLocked(getKey(arg->getOption())))
      all.append(arg);
  return Error::success();
}

// Accepted findings

/// "2026-11-22", in the time zone of the user.
static std::string today() {
  time_t now = time(nullptr);
  tm parts = {};
  char text[16];
  if (!localtime_r(&now, &parts) ||
      !strftime(text, sizeof text, "%Y-%m-%d", &parts))
    return "";
  return text;
}

ProjectPolicy::ProjectPolicy(const Options &options)
    : options(options), suppressor(options.suppressions, today()) {}

Error ProjectPolicy::start() {
  // A new one takes the place of the old, whatever that is.
  if (options.baseline.empty() || !options.writeBaseline.empty())
    return Error::success();
  Expected<Baseline> baseline = Baseline::read(options.baseline);
  if (!baseline)
    return baseline.takeError();
  known = std::move(*baseline);
  return Error::success();
}

void ProjectPolicy::apply(std::vector<Finding> &findings, StringRef path,
                          const FindingSet *looked) {
  removed += suppressor.apply(findings, path, looked);
  if (!options.writeBaseline.empty()) {
    std::lock_guard<std::mutex> hold(mutex);
    for (const Finding &finding : findings)
      found.add(finding, path);
  }
  if (known)
    removed += known->apply(findings, path);
}

Error ProjectPolicy::finish() {
  return options.writeBaseline.empty() ? Error::success()
                                       : found.write(options.writeBaseline);
}

std::vector<std::string> ProjectPolicy::complaints() const {
  return suppressor.complaints(/*whole=*/options.recursive);
}
