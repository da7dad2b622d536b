// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "OptionTable.inc"
#include "Process/Program.h"
#include "Support/Format.h"
#include "mpgrun/Compare/CompareRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdlib>
#include <unistd.h>

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static const ProgramText programText = {
    "mpgrun", "mpgrun [OPTION]... [--] PROGRAM [ARGUMENT]...",
    "Runs a program with its data and stacks on large pages; it need not be "
    "relinked.",
    "\nStatus: that of the program, and its signal; 0 --compare compared; 124 "
    "--verify\n  failed, or there was nothing to compare or merge, 125 mpgrun "
    "itself "
    "failed, 126 the\n  program cannot be run, 127 it is not there.\n",
    exitOwnError};

bool mpg::isMode(StringRef word) {
  return is_contained({"auto", "hugetlb", "thp", "none"}, word);
}

/// "prepage:demand:prepage"
static bool isPolicy(StringRef text) {
  SmallVector<StringRef, 3> fields;
  text.split(fields, ':');
  return fields.size() == 3 && all_of(fields, [](StringRef field) {
           return field == "prepage" || field == "demand";
         });
}

// Each returns the text of the first error; "": there is none.

/// The kernel moves transparent and normal pages by touch, none of the pool.
static std::string readMove(const InputArgList &args, RunOptions &options) {
  const Arg *arg = args.getLastArg(OPT_move);
  if (!arg)
    return "";
  if (StringRef(arg->getValue()) != "next-touch")
    return "--move=" + printable(arg->getValue()) + ": has to be next-touch";
  if (options.modeGiven && options.mode != "thp" && options.mode != "none")
    return "--move=next-touch does not go together with --mode=" +
           options.mode +
           ": the kernel moves no pages of the pool by touch; --mode=thp does";
  options.moves = true;
  if (!options.modeGiven)
    options.mode = "thp";
  options.modeGiven = true;
  return "";
}

static std::string readFileName(const InputArgList &args, OptSpecifier id,
                                std::string &name) {
  const Arg *arg = args.getLastArg(id);
  if (!arg)
    return "";
  name = arg->getValue();
  return name.empty() ? arg->getSpelling().str() + ": names no file" : "";
}

/// How the program is to run.
static std::string readSettings(const InputArgList &args, RunOptions &options) {
  if (const Arg *arg = args.getLastArg(OPT_mode)) {
    options.mode = arg->getValue();
    options.modeGiven = true;
    if (!isMode(options.mode))
      return "--mode=" + printable(options.mode) +
             ": has to be auto, hugetlb, thp or none";
  }
  if (const Arg *arg = args.getLastArg(OPT_policy)) {
    options.policy = arg->getValue();
    if (!isPolicy(options.policy))
      return "--policy=" + printable(options.policy) +
             ": has to be three words out of prepage and demand, for .bss, "
             "stacks "
             "and mmap, such as prepage:demand:prepage";
  }
  if (const Arg *arg = args.getLastArg(OPT_hpc_tags)) {
    StringRef value = arg->getValue();
    if (value != "on" && value != "off")
      return "--hpc-tags=" + printable(value) + ": has to be on or off";
    options.hpcTags = value == "on";
  }
  return readMove(args, options);
}

/// The reports to write, and where.
static std::string readReports(const InputArgList &args, RunOptions &options) {
  for (const Arg *arg : args.filtered(OPT_report_file)) {
    StringRef value = arg->getValue();
    bool isJson = value.consume_front("json:");
    if (value.empty())
      return "--report=" + printable(arg->getValue()) + ": names no file";
    (isJson ? options.jsonFile : options.reportFile) = value.str();
  }
  if (std::string error =
          readFileName(args, OPT_profile_file, options.profileFile);
      !error.empty())
    return error;
  options.profile = args.hasArg(OPT_profile, OPT_profile_file);
  options.advise = args.hasArg(OPT_advise);
  options.workingSet = args.hasArg(OPT_working_set);
  if (options.workingSet) {
    if (options.modeGiven && options.mode != "none")
      return "--working-set does not go together with --mode=" + options.mode +
             ": what is accessed of a large page is not known";
    options.mode = "none";
    options.modeGiven = true;
  }
  return "";
}

static std::string readValues(const InputArgList &args, RunOptions &options) {
  for (auto *read : {readSettings, readReports})
    if (std::string error = read(args, options); !error.empty())
      return error;
  options.report = args.hasArg(OPT_report);
  options.children = args.hasArg(OPT_children);
  options.verify = args.hasArg(OPT_verify);
  if (const Arg *arg = args.getLastArg(OPT_text, OPT_text_how)) {
    bool hasValue = arg->getOption().matches(OPT_text_how);
    options.text = hasValue ? arg->getValue() : "auto";
    if (hasValue && options.text != "copy")
      return "--text=" + printable(options.text) + ": has to be copy";
  }
  if (const Arg *arg = args.getLastArg(OPT_verify_text)) {
    if (StringRef(arg->getValue()) != "text")
      return "--verify=" + printable(arg->getValue()) + ": has to be text";
    options.verifyText = true;
  }
  options.quiet = args.hasArg(OPT_quiet);
  options.printEnv = args.hasArg(OPT_print_env);
  options.dryRun = args.hasArg(OPT_dry_run);
  return "";
}

static constexpr unsigned maxRounds = 10000;

/// The files of what was found.
static std::string readFiles(const InputArgList &args, RunOptions &options) {
  bool hasReport = options.report || !options.reportFile.empty();
  if (const Arg *arg = args.getLastArg(OPT_json)) {
    StringRef file = arg->getValue();
    if (file.empty())
      return "--json=: names no file";
    if (!options.isComparing() && !options.profile && !hasReport)
      return printable(arg->getAsString(args)) +
             " is for --compare, --profile and --report";
    if (file == "-" && !options.isComparing())
      return "--json=-: standard output is the program's; name a file";
    bool isReport = !options.isComparing() && !options.profile;
    (isReport ? options.jsonFile : options.dataFile) = file.str();
  }
  if (std::string error = readFileName(args, OPT_html, options.htmlFile);
      !error.empty())
    return error;
  if (!options.htmlFile.empty() && !options.isComparing() && !options.profile)
    return "--html=" + printable(options.htmlFile) +
           " is for --compare and --profile";
  return "";
}

/// How often, in which order and what is measured.
static std::string readMeasurement(const InputArgList &args,
                                   RunOptions &options) {
  if (const Arg *arg = args.getLastArg(OPT_repeat))
    if (StringRef(arg->getValue()).getAsInteger(10, options.rounds) ||
        options.rounds == 0 || options.rounds > maxRounds)
      return "--repeat=" + printable(arg->getValue()) +
             ": has to be a number of rounds from 1 to " +
             std::to_string(maxRounds);
  if (const Arg *arg = args.getLastArg(OPT_seed)) {
    uint32_t seed;
    if (StringRef(arg->getValue()).getAsInteger(10, seed))
      return "--seed=" + printable(arg->getValue()) +
             ": has to be a number from 0 to 4294967295";
    options.seed = seed;
  }
  if (const Arg *arg = args.getLastArg(OPT_metric)) {
    std::string wrong;
    options.metric = parseMetric(arg->getValue(), wrong);
    if (!options.metric)
      return "--metric=" + printable(arg->getValue()) + ": " + wrong;
  }
  return "";
}

static std::string readComparison(const InputArgList &args,
                                  RunOptions &options) {
  const Arg *compare = args.getLastArg(OPT_compare, OPT_compare_modes);
  if (!compare) {
    if (const Arg *arg = args.getLastArg(OPT_repeat, OPT_seed, OPT_metric))
      return printable(arg->getAsString(args)) + " is for --compare";
    if (options.workingSet && !options.isProfiling())
      return "--working-set is for --profile and --advise";
    return readFiles(args, options);
  }
  bool hasList = compare->getOption().matches(OPT_compare_modes);
  StringRef list =
      hasList ? StringRef(compare->getValue()) : StringRef(defaultCompareModes);
  std::string wrong;
  options.compareModes = parseCompareModes(list, wrong);
  if (!wrong.empty())
    return "--compare=" + printable(list) + ": " + wrong;
  if (const Arg *arg = args.getLastArg(
          OPT_mode, OPT_move, OPT_report, OPT_profile, OPT_profile_file,
          OPT_advise, OPT_working_set, OPT_verify, OPT_verify_text, OPT_text,
          OPT_text_how, OPT_print_env, OPT_dry_run))
    return printable(arg->getAsString(args)) +
           " does not go together with --compare";
  if (std::string error = readMeasurement(args, options); !error.empty())
    return error;
  if (!options.jsonFile.empty())
    return "--report=json: does not go together with --compare; --json=FILE "
           "is its JSON";
  return readFiles(args, options);
}

/// The words after the options are files and folders.
static std::string readMerge(const InputArgList &args, RunOptions &options) {
  for (const Arg *arg : args)
    if (!arg->getOption().matches(OPT_merge) &&
        !arg->getOption().matches(OPT_json) &&
        !arg->getOption().matches(OPT_html))
      return printable(arg->getAsString(args)) +
             " does not go together with --merge";
  for (auto [id, name] :
       {std::pair(OPT_json, &options.dataFile), {OPT_html, &options.htmlFile}})
    if (std::string error = readFileName(args, id, *name); !error.empty())
      return error;
  if (options.command.empty())
    return "--merge: no file or folder is named";
  for (StringRef name : options.command)
    if (name.starts_with("--"))
      return printable(name) + ": options come before the files of --merge; " +
             "./" + printable(name) + " is a file of that name";
  options.merge = true;
  return "";
}

std::optional<RunOptions> mpg::parseOptions(int argc, char **argv,
                                            int &status) {
  OptionTable table;
  SplitWords words = splitCommand(table, argc, argv);
  CommandLine line(table, programText, words.own);
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  RunOptions options;
  options.command.assign(words.command.begin(), words.command.end());
  if (line.args().hasArg(OPT_merge)) {
    if (std::string error = readMerge(line.args(), options); !error.empty())
      return line.usageError(error, status);
    return options;
  }
  for (auto *read : {readValues, readComparison})
    if (std::string error = read(line.args(), options); !error.empty())
      return line.usageError(error, status);
  options.typed.assign(words.own.begin(), words.own.end());
  if (options.command.empty())
    return line.usageError("no program is named", status);
  return options;
}

// The program's environment

/// "old" after \p front, as lists of the loader and of sanitizers are.
static std::string prepend(std::string front, const char *name) {
  const char *old = getenv(name);
  return old && *old ? front + ":" + old : front;
}

static constexpr char rdmaHugePages[] = "RDMAV_HUGEPAGES_SAFE";

const char *mpg::rdmaForkVariable(const Program &program, StringRef mode) {
  if (!program.stranger.empty() || mode == "none" || getenv(rdmaHugePages))
    return nullptr;
  for (const char *name : {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"})
    if (getenv(name))
      return name;
  return nullptr;
}

Settings mpg::libmpgSettings(const RunOptions &options, const Program &program,
                             const std::string &libraryPath, StringRef mode,
                             int stateFd) {
  Settings settings;
  if (!program.stranger.empty() || libraryPath.empty())
    return settings;
  settings = preloadSettings(libraryPath);
  settings[0].second = prepend(settings[0].second, "LD_PRELOAD");
  if (!options.children)
    settings.emplace_back("MPG_TARGET", program.identity);
  if (!mode.empty())
    settings.emplace_back("MPG_MODE", mode.str());
  if (!options.policy.empty())
    settings.emplace_back("XOS_MMM_L_PAGING_POLICY", options.policy);
  if (!options.text.empty())
    settings.emplace_back("MPG_TEXT", options.text);
  if (options.quiet)
    settings.emplace_back("MPG_QUIET", "1");
  if (options.printEnv)
    settings.emplace_back("XOS_MMM_L_PRINT_ENV", "on");
  if (stateFd >= 0)
    settings.emplace_back("MPG_STATE_FD", std::to_string(stateFd));
  if (stateFd >= 0 && options.children)
    settings.emplace_back("MPG_STATE_PID", std::to_string(getpid()));
  // libibverbs asks for whole large pages then.
  if (rdmaForkVariable(program, options.mode))
    settings.emplace_back(rdmaHugePages, "1");
  // In front of the user's options: the last one wins.
  if (program.wantsAsanFirst)
    settings.emplace_back("ASAN_OPTIONS",
                          prepend("verify_asan_link_order=0", "ASAN_OPTIONS"));
  return settings;
}

void mpg::applySettings(const Settings &settings, bool children) {
  if (children)
    unsetenv("MPG_TARGET");
  unsetenv("MPG_STATE_FD");
  unsetenv("MPG_STATE_PID");
  for (const auto &[name, value] : settings)
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
}

std::vector<std::string> mpg::environmentWith(const Settings &settings,
                                              bool children) {
  auto isReplaced = [&](StringRef name) {
    return name == "MPG_STATE_FD" || name == "MPG_STATE_PID" ||
           (children && name == "MPG_TARGET") ||
           any_of(settings,
                  [&](const auto &setting) { return name == setting.first; });
  };
  std::vector<std::string> result;
  for (char **entry = environ; *entry; ++entry)
    if (!isReplaced(StringRef(*entry).split('=').first))
      result.push_back(*entry);
  for (const auto &[name, value] : settings)
    result.push_back(name + "=" + value);
  return result;
}
