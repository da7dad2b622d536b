// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Process/Ranks.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static const ProgramText programText = {
    "mpgsim", "mpgsim [OPTION]... [--] PROGRAM [ARGUMENT]...",
    "Runs a program that was compiled with --mpg-sim, or one for AArch64 under "
    "qemu, and\nsays what it would miss in the caches and TLBs of a machine, "
    "for "
    "each page size; all\ncounts are modelled.",
    "\nStatus: that of the program, and its signal; 125 mpgsim itself failed "
    "or "
    "there\n  is nothing to report, 126 the program cannot be run, 127 it is "
    "not there.\n",
    simOwnError};

/// Sizes in ascending order; nothing if one is none.
static std::optional<std::vector<uint64_t>> parsePages(StringRef text) {
  std::vector<uint64_t> pages;
  SmallVector<StringRef, 4> words;
  text.split(words, ',');
  for (StringRef word : words) {
    std::optional<uint64_t> bytes = parseBytes(word);
    if (!bytes)
      return std::nullopt;
    pages.push_back(*bytes);
  }
  llvm::sort(pages);
  pages.erase(llvm::unique(pages), pages.end());
  return pages;
}

/// A function, or SECONDS[@DELAY]: names begin with no digit. Nothing: it is
/// neither.
static std::optional<SimSample> parseSample(StringRef text) {
  SimSample sample;
  if (text.empty())
    return std::nullopt;
  if (!isDigit(text[0]) && text[0] != '.') {
    sample.by = MPG_SIM_FUNCTION;
    sample.function = text.str();
    if (text.size() >= sizeof(mpg_sim_ring::function))
      return std::nullopt;
    return sample;
  }
  static constexpr double max = 1e6;
  sample.by = MPG_SIM_TIME;
  auto [seconds, delay] = text.split('@');
  if (seconds.getAsDouble(sample.seconds) ||
      (text.contains('@') && delay.getAsDouble(sample.delay)) ||
      !(sample.seconds > 0 && sample.seconds <= max) ||
      !(sample.delay >= 0 && sample.delay <= max))
    return std::nullopt;
  return sample;
}

static void setFiles(const InputArgList &args, SimOptions &options) {
  for (auto [id, path] : {std::pair(OPT_html, &options.html),
                          {OPT_output, &options.output},
                          {OPT_record, &options.record}})
    *path = expandFileName(args.getLastArgValue(id), getpid());
}

/// False after a usage error, as the next ones.
static bool setEngine(CommandLine &line, SimOptions &options, int &status) {
  const InputArgList &args = line.args();
  StringRef engine = args.getLastArgValue(OPT_engine, "compiled");
  options.usesQemu = engine == "qemu";
  options.qemu = args.getLastArgValue(OPT_qemu).str();
  std::string problem;
  if (!options.usesQemu && engine != "compiled")
    problem = "--engine=" + printable(engine) + ": has to be compiled or qemu";
  else if (!options.usesQemu && args.hasArg(OPT_qemu))
    problem = "--qemu= goes with --engine=qemu";
  else if (options.usesQemu && args.hasArg(OPT_advise))
    problem = "--advise= writes hints for a compiler; without one, see what "
              "--stream= shows";
  else if (options.usesQemu && (options.sample.by == MPG_SIM_CALLS ||
                                options.sample.by == MPG_SIM_FUNCTION))
    problem = "--engine=qemu records no single functions; take "
              "--sample=SECONDS[@DELAY]";
  if (problem.empty())
    return true;
  line.usageError(problem, status);
  return false;
}

/// False after a usage error.
static bool setMerge(CommandLine &line, SimOptions &options, int &status) {
  const InputArgList &args = line.args();
  options.merges = args.hasArg(OPT_merge);
  if (options.merges &&
      args.hasArg(OPT_pages, OPT_maps, OPT_threads, OPT_stream, OPT_advise,
                  OPT_sample, OPT_sample_what, OPT_cold, OPT_record, OPT_engine,
                  OPT_qemu)) {
    line.usageError("--merge runs nothing: it goes with --machine=, "
                    "--json, --csv, --html= and --output= only",
                    status);
    return false;
  }
  return true;
}

static bool setSample(CommandLine &line, SimOptions &options, int &status) {
  const InputArgList &args = line.args();
  if (args.hasArg(OPT_sample))
    options.sample.by = MPG_SIM_CALLS;
  if (const Arg *arg = args.getLastArg(OPT_sample_what)) {
    std::optional<SimSample> sample = parseSample(arg->getValue());
    if (!sample) {
      line.usageError("--sample=" + printable(arg->getValue()) +
                          ": has to be the name of a function, or seconds such "
                          "as 2 or 0.5@10",
                      status);
      return false;
    }
    options.sample = *sample;
  }
  options.sample.isCold = args.hasArg(OPT_cold);
  if (options.sample.isCold && options.sample.by == MPG_SIM_ALL) {
    line.usageError("--cold goes with --sample", status);
    return false;
  }
  return true;
}

/// Which arrays are streams, and where the threads run.
static bool setArrays(CommandLine &line, SimOptions &options, int &status) {
  const InputArgList &args = line.args();
  for (StringRef array : split(args.getLastArgValue(OPT_stream), ','))
    if (!array.trim().empty())
      options.stream.push_back(array.trim().str());
  StringRef threads = args.getLastArgValue(OPT_threads, "compact");
  options.spreadsThreads = threads == "spread";
  options.advise = args.getLastArgValue(OPT_advise).str();
  std::string problem;
  if (args.hasArg(OPT_stream) && options.stream.empty())
    problem = "--stream=: names no array";
  else if (!options.spreadsThreads && threads != "compact")
    problem =
        "--threads=" + printable(threads) + ": has to be compact or spread";
  else if (!options.advise.empty() && args.hasArg(OPT_stream))
    problem = "--advise= chooses the arrays itself; leave out --stream=";
  if (problem.empty())
    return true;
  line.usageError(problem, status);
  return false;
}

/// Selects the models that run side by side: sizes of pages, and maps of them.
static bool setPages(CommandLine &line, SimOptions &options, int &status) {
  const InputArgList &args = line.args();
  StringRef maps = args.getLastArgValue(OPT_maps, "1");
  std::string problem;
  if (maps.getAsInteger(10, options.maps) || options.maps < 1 ||
      options.maps > 8)
    problem = "--maps=" + printable(maps) + ": has to be a number from 1 to 8";
  else if (const Arg *arg = args.getLastArg(OPT_pages)) {
    if (std::optional<std::vector<uint64_t>> pages =
            parsePages(arg->getValue()))
      options.pages = *pages;
    else
      problem = "--pages=" + printable(arg->getValue()) +
                ": has to be a list of sizes such as 64K,2M";
  }
  if (problem.empty())
    return true;
  line.usageError(problem, status);
  return false;
}

std::optional<SimOptions> mpg::parseOptions(int argc, char **argv,
                                            int &status) {
  OptionTable table;
  SplitWords words = splitCommand(table, argc, argv);
  CommandLine line(table, programText, words.own);
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  const InputArgList &args = line.args();
  SimOptions options;
  options.json = args.hasArg(OPT_json);
  options.csv = args.hasArg(OPT_csv);
  if (options.json && options.csv)
    return line.usageError("--json and --csv: one of them", status);
  options.machine = args.getLastArgValue(OPT_machine, "a64fx").str();
  if (!setArrays(line, options, status))
    return std::nullopt;
  setFiles(args, options);
  if (!setMerge(line, options, status) || !setSample(line, options, status) ||
      !setEngine(line, options, status) || !setPages(line, options, status))
    return std::nullopt;
  options.command.assign(words.command.begin(), words.command.end());
  if (options.command.empty())
    return line.usageError(options.merges ? "--merge: no file is named"
                                          : "no program is named",
                           status);
  return options;
}
