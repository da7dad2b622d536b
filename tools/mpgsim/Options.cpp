// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Process/Ranks.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
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
  for (StringRef word : split(text, ',')) {
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

// Each returns the text of an error; "": there is none.

static std::string setEngine(const InputArgList &args, SimOptions &options) {
  StringRef engine = args.getLastArgValue(OPT_engine, "compiled");
  options.usesQemu = engine == "qemu";
  options.qemu = args.getLastArgValue(OPT_qemu).str();
  if (!options.usesQemu && engine != "compiled")
    return "--engine=" + printable(engine) + ": has to be compiled or qemu";
  if (!options.usesQemu && args.hasArg(OPT_qemu))
    return "--qemu= goes with --engine=qemu";
  if (options.usesQemu && args.hasArg(OPT_advise))
    return "--advise= writes hints for a compiler; without one, see what "
           "--stream= shows";
  if (options.usesQemu && (options.sample.by == MPG_SIM_CALLS ||
                           options.sample.by == MPG_SIM_FUNCTION))
    return "--engine=qemu records no single functions; take "
           "--sample=SECONDS[@DELAY]";
  return "";
}

static std::string setMerge(const InputArgList &args, SimOptions &options) {
  options.merges = args.hasArg(OPT_merge);
  bool runs = args.hasArg(OPT_pages, OPT_maps, OPT_threads, OPT_stream,
                          OPT_advise, OPT_sample, OPT_sample_what, OPT_cold,
                          OPT_record, OPT_engine, OPT_qemu);
  return options.merges && runs
             ? "--merge runs nothing: it goes with --machine=, --json, --csv, "
               "--html= and --output= only"
             : "";
}

static std::string setSample(const InputArgList &args, SimOptions &options) {
  if (args.hasArg(OPT_sample))
    options.sample.by = MPG_SIM_CALLS;
  if (const Arg *arg = args.getLastArg(OPT_sample_what)) {
    std::optional<SimSample> sample = parseSample(arg->getValue());
    if (!sample)
      return "--sample=" + printable(arg->getValue()) +
             ": has to be the name of a function, or seconds such as 2 or "
             "0.5@10";
    options.sample = *sample;
  }
  options.sample.isCold = args.hasArg(OPT_cold);
  return options.sample.isCold && options.sample.by == MPG_SIM_ALL
             ? "--cold goes with --sample"
             : "";
}

/// Which arrays are streams, and where the threads run.
static std::string setArrays(const InputArgList &args, SimOptions &options) {
  for (StringRef array : split(args.getLastArgValue(OPT_stream), ','))
    if (!array.trim().empty())
      options.stream.push_back(array.trim().str());
  StringRef threads = args.getLastArgValue(OPT_threads, "compact");
  options.spreadsThreads = threads == "spread";
  options.advise = args.getLastArgValue(OPT_advise).str();
  if (args.hasArg(OPT_stream) && options.stream.empty())
    return "--stream=: names no array";
  if (!options.spreadsThreads && threads != "compact")
    return "--threads=" + printable(threads) + ": has to be compact or spread";
  if (!options.advise.empty() && args.hasArg(OPT_stream))
    return "--advise= chooses the arrays itself; leave out --stream=";
  return "";
}

/// Selects the models that run side by side: sizes of pages, and maps of them.
static std::string setPages(const InputArgList &args, SimOptions &options) {
  StringRef maps = args.getLastArgValue(OPT_maps, "1");
  if (maps.getAsInteger(10, options.maps) || options.maps < 1 ||
      options.maps > 8)
    return "--maps=" + printable(maps) + ": has to be a number from 1 to 8";
  const Arg *arg = args.getLastArg(OPT_pages);
  if (!arg)
    return "";
  std::optional<std::vector<uint64_t>> pages = parsePages(arg->getValue());
  if (!pages)
    return "--pages=" + printable(arg->getValue()) +
           ": has to be a list of sizes such as 64K,2M";
  options.pages = *pages;
  return "";
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
  setFiles(args, options);
  for (auto *set : {setArrays, setMerge, setSample, setEngine, setPages})
    if (std::string problem = set(args, options); !problem.empty())
      return line.usageError(problem, status);
  options.command.assign(words.command.begin(), words.command.end());
  if (options.command.empty())
    return line.usageError(options.merges ? "--merge: no file is named"
                                          : "no program is named",
                           status);
  return options;
}
