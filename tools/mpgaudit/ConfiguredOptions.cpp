// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ConfiguredOptions.h"
#include "ConfigurationWords.h"
#include "OptionIds.h"
#include "OptionReader.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

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

/// \p commandLine behind the words of the configuration file, so that it wins.
static std::string readWords(const OptTable &table,
                             ArrayRef<ConfigurationWord> fromFile,
                             ArrayRef<const char *> commandLine,
                             Options &options) {
  SmallVector<const char *, 32> words;
  for (const ConfigurationWord &word : fromFile)
    words.push_back(word.text.c_str());
  words.append(commandLine.begin(), commandLine.end());
  unsigned missingIndex = 0, missingCount = 0;
  return readOptions(table.ParseArgs(words, missingIndex, missingCount),
                     options);
}

std::string mpg::readConfiguredOptions(const OptTable &table,
                                       const InputArgList &args,
                                       ArrayRef<const char *> commandLine,
                                       Options &options) {
  std::string path = chooseConfiguration(args);
  if (path.empty())
    return readWords(table, {}, commandLine, options);
  Expected<Configuration> configuration =
      readConfiguration(path, configurationKeys());
  if (!configuration)
    return toString(configuration.takeError());
  std::vector<ConfigurationWord> words = wordsOf(
      *configuration, [&](StringRef key) { return isGiven(args, key); });
  // One word more at a time, to know whose fault an error is.
  for (size_t count = 0; count <= words.size(); ++count) {
    Options tried;
    tried.suppressions = configuration->suppressions;
    std::string problem =
        readWords(table, ArrayRef(words).take_front(count), commandLine, tried);
    if (!problem.empty() && count)
      return path + ":" + std::to_string(words[count - 1].line) + ": " +
             problem;
    if (!problem.empty())
      return problem;
    options = std::move(tried);
  }
  return "";
}
