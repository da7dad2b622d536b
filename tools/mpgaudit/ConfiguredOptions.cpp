// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OptionReader.h. The words of the site's and the project's file are put in
// front of the command line, which wins, and what the site has locked after it;
// all are read as one.

#include "OptionIds.h"
#include "OptionReader.h"
#include "Policy/Policy.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

struct ConfigurationWord {
  std::string text; ///< "--target=fugaku"
  unsigned line;    ///< of the file
};

} // namespace

static constexpr StringRef keys[] = {
    "target",        "page",   "huge",    "min",     "memory",
    "expect-libmpg", "checks", "closure", "fail-on", "format",
    "env",           "jobs",   "sysroot", "baseline"};

/// The options that a file may have.
static ArrayRef<StringRef> configurationKeys() { return keys; }

static std::string wordOf(const std::string &key, const std::string &value) {
  if (key == "closure")
    return value == "true" ? "--closure" : "--no-closure";
  if (key == "expect-libmpg")
    return value == "true" ? "--expect-libmpg" : "";
  return "--" + key + "=" + value;
}

/// Without what the command line says otherwise: \p isGiven(key).
static std::vector<ConfigurationWord>
wordsOf(const Configuration &configuration,
        const std::function<bool(StringRef)> &isGiven) {
  std::vector<ConfigurationWord> words;
  for (size_t i = 0; i < configuration.options.size(); ++i) {
    const auto &[key, value] = configuration.options[i];
    std::string word = wordOf(key, value);
    // Variables are a set: those of the command line are added.
    if (!word.empty() && (key == "env" || !isGiven(key)))
      words.push_back({word, configuration.lines[i]});
  }
  return words;
}

/// Whether the command line says something about \p key: --diff says that there
/// is no baseline.
static bool isGiven(const InputArgList &args, StringRef key) {
  return any_of(args, [&](const Arg *arg) {
    StringRef name = arg->getOption().getUnaliasedOption().getName();
    name.consume_back("=");
    return name == key || (key == "closure" && name == "no-closure") ||
           (key == "baseline" && name == "diff");
  });
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

/// What the administrator of the machine sets for everybody. Keys that its
/// "locked" names hold whatever the project and the command line say.
static constexpr char siteFile[] = "/etc/mpgtools/mpgaudit.yaml";
static constexpr char lockedKey[] = "locked";

namespace {

/// A word of a configuration file.
struct FileWord {
  std::string text, place; ///< place: "FILE:LINE"
  bool isLocked;           ///< stands after the command line, so that it wins
};

/// What the files say, in the order in which it is read.
struct FileSettings {
  std::vector<FileWord> words;
  std::vector<Suppression> suppressions;
  std::string problem;
};

} // namespace

/// \p commandLine between the words of the files: before what is locked, and
/// that before "--", after which all words are files.
static std::string readWords(const OptTable &table, ArrayRef<FileWord> fromFile,
                             ArrayRef<const char *> commandLine,
                             Options &options) {
  SmallVector<const char *, 32> words;
  auto addFileWords = [&](bool locked) {
    for (const FileWord &word : fromFile)
      if (word.isLocked == locked)
        words.push_back(word.text.c_str());
  };
  size_t dashes =
      size_t(find(commandLine, StringRef("--")) - commandLine.begin());
  addFileWords(/*locked=*/false);
  append_range(words, commandLine.take_front(dashes));
  addFileWords(/*locked=*/true);
  append_range(words, commandLine.drop_front(dashes));
  unsigned missingIndex = 0, missingCount = 0;
  return readOptions(table.ParseArgs(words, missingIndex, missingCount),
                     options);
}

static SmallVector<StringRef, 8> lockedKeys(const Configuration &site) {
  SmallVector<StringRef, 8> locked;
  for (const auto &[key, value] : site.options)
    if (key == lockedKey)
      SplitString(value, locked, " ,");
  return locked;
}

static bool readSite(const InputArgList &args, FileSettings &settings,
                     SmallVectorImpl<std::string> &locked) {
  if (!sys::fs::exists(siteFile))
    return true;
  SmallVector<StringRef, 24> keys(configurationKeys());
  keys.push_back(lockedKey);
  Expected<Configuration> site = readConfiguration(siteFile, keys);
  if (!site) {
    settings.problem = toString(site.takeError());
    return false;
  }
  for (StringRef key : lockedKeys(*site)) {
    if (!is_contained(keys, key) && key != "suppress") {
      settings.problem = (siteFile + (": " + Twine(lockedKey)) +
                          ": no key is called '" + printable(key) + "'")
                             .str();
      return false;
    }
    locked.push_back(key.str());
    if (isGiven(args, key))
      errs() << "mpgaudit: note: --" << key << " is set by " << siteFile
             << "; that of the command line is not taken\n";
  }
  auto isLocked = [&](StringRef key) { return is_contained(locked, key); };
  for (const ConfigurationWord &word : wordsOf(*site, [&](StringRef key) {
         return key == lockedKey || (!isLocked(key) && isGiven(args, key));
       })) {
    StringRef key = StringRef(word.text).ltrim('-').split('=').first;
    key = key == "no-closure" ? "closure" : key;
    settings.words.push_back({word.text,
                              (siteFile + (":" + Twine(word.line))).str(),
                              isLocked(key)});
  }
  settings.suppressions = site->suppressions;
  return true;
}

/// What \p path, the project's file, adds to it.
static void readProject(const std::string &path, const InputArgList &args,
                        ArrayRef<std::string> locked, FileSettings &settings) {
  Expected<Configuration> project =
      readConfiguration(path, configurationKeys());
  if (!project) {
    settings.problem = toString(project.takeError());
    return;
  }
  for (const ConfigurationWord &word : wordsOf(*project, [&](StringRef key) {
         return is_contained(locked, key) || isGiven(args, key);
       }))
    settings.words.push_back(
        {word.text, path + ":" + std::to_string(word.line), false});
  if (!is_contained(locked, "suppress"))
    append_range(settings.suppressions, project->suppressions);
}

std::string mpg::readConfiguredOptions(const OptTable &table,
                                       const InputArgList &args,
                                       ArrayRef<const char *> commandLine,
                                       Options &options) {
  FileSettings settings;
  SmallVector<std::string, 8> locked;
  std::string path;
  if (readSite(args, settings, locked))
    path = chooseConfiguration(args);
  if (!path.empty())
    readProject(path, args, locked, settings);
  if (!settings.problem.empty())
    return settings.problem;
  // One word more at a time, to know whose fault an error is.
  for (size_t count = 0; count <= settings.words.size(); ++count) {
    Options tried;
    tried.suppressions = settings.suppressions;
    std::string problem = readWords(
        table, ArrayRef(settings.words).take_front(count), commandLine, tried);
    if (!problem.empty())
      return count ? settings.words[count - 1].place + ": " + problem : problem;
    options = std::move(tried);
  }
  return "";
}
