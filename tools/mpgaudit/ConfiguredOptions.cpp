// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ConfiguredOptions.h. The site's file is read first, then the project's;
// the command line wins over both, but for the keys that the site has locked.

#include "ConfiguredOptions.h"
#include "OptionIds.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

/// What the administrator of the machine sets for everybody. Keys that its
/// "locked" names hold whatever the project and the command line say.
static constexpr char siteFile[] = "/etc/mpgtools/mpgaudit.yaml";
static constexpr char lockedKey[] = "locked";

/// "target" of --target=.
static StringRef nameOf(const Option &option) {
  return option.getUnaliasedOption().getName().rtrim('=');
}

/// The key that \p option is about: "closure" for --no-closure.
static StringRef keyOf(const Option &option) {
  StringRef name = nameOf(option);
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
    keys.push_back({nameOf(option), option.getKind() == Option::FlagClass,
                    option.hasFlag(fileList), option.hasFlag(filePath)});
  });
  if (mayLock)
    keys.push_back({lockedKey});
  return readConfiguration(path, keys);
}

bool ConfiguredOptions::isLocked(StringRef key) const {
  return is_contained(locked, key);
}

/// Whether the command line says something about \p key: --diff says that there
/// is no baseline.
bool ConfiguredOptions::isGiven(StringRef key) const {
  return any_of(commandLine, [&](const Arg *arg) {
    return keyOf(arg->getOption()) == key ||
           (key == "baseline" && arg->getOption().matches(OPT_diff));
  });
}

/// The option called \p name; one that is not valid if there is none.
static Option findOption(const OptTable &table, const Twine &name) {
  std::string text = name.str();
  for (unsigned id = 1; id <= table.getNumOptions(); ++id)
    if (Option option = table.getOption(id);
        !option.getAlias().isValid() && nameOf(option) == text)
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
             [&](const Option &option) { keys.push_back(nameOf(option)); });
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
  if (!sys::fs::exists(siteFile))
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
    if (!isLocked(keyOf(arg->getOption())))
      all.append(arg);
  return Error::success();
}
