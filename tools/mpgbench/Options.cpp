// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.

#include "Options.h"
#include "Support/Format.h"

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

static const ProgramText programText = {
    "mpgbench",
    "mpgbench COMMAND [option]...",
    "Measures what large pages, the heap's settings and the placement of\n"
    "data do on this machine, and says what is certain of it.\n\n"
    "COMMANDS:\n"
    "  list                what can be measured here\n"
    "  list EXPERIMENT...  the points of these experiments\n"
    "  run NAME...         measure experiments (triad) or points\n"
    "                      (triad/pages=2M)\n"
    "  all                 measure everything\n"
    "  --compare A B       two files of --json",
    "\nEXIT STATUS: 0 done, 1 --compare found something worse, 2 usage error, "
    "or a\nfile cannot be read or written, 130 interrupted; what was measured "
    "is written\n",
    2,
    "commands and options"};

/// A whole number from 1 on in \p arg; nothing if it is none.
static std::optional<uint64_t> readCount(const Arg &arg, uint64_t most) {
  uint64_t value = 0;
  if (StringRef(arg.getValue()).getAsInteger(10, value) || value < 1 ||
      value > most)
    return std::nullopt;
  return value;
}

/// Fills \p options; the text of the first error, or nothing.
static std::optional<std::string> readValues(const InputArgList &args,
                                             BenchOptions &options) {
  options.quick = args.hasArg(OPT_quick);
  if (const Arg *arg = args.getLastArg(OPT_repeat)) {
    std::optional<uint64_t> count = readCount(*arg, 1000);
    if (!count)
      return "--repeat=" + printable(arg->getValue()) +
             ": is a number from 1 to 1000";
    options.repetitions = unsigned(*count);
  }
  if (const Arg *arg = args.getLastArg(OPT_seed)) {
    std::optional<uint64_t> seed = readCount(*arg, UINT64_MAX);
    if (!seed)
      return "--seed=" + printable(arg->getValue()) + ": is a number from 1 on";
    options.seed = *seed;
  }
  unsigned toOutput = 0;
  for (auto [id, file] : {std::pair(OPT_json, &options.jsonFile),
                          std::pair(OPT_csv, &options.csvFile),
                          std::pair(OPT_html, &options.htmlFile)})
    if (const Arg *arg = args.getLastArg(id)) {
      *file = arg->getValue();
      if (file->empty())
        return arg->getSpelling().str() + " needs the name of a file";
      toOutput += *file == "-";
    }
  if (toOutput > 1)
    return std::string("only one file can go to standard output");
  return std::nullopt;
}

/// What the words that are no options ask for.
static std::optional<std::string> readCommand(const InputArgList &args,
                                              BenchOptions &options) {
  std::vector<std::string> words;
  for (const Arg *arg : args.filtered(OPT_INPUT))
    words.push_back(arg->getValue());
  if (args.hasArg(OPT_compare)) {
    options.command = BenchOptions::Command::compare;
    options.names = std::move(words);
    if (options.names.size() != 2)
      return "--compare needs two files that --json wrote";
    return std::nullopt;
  }
  if (words.empty())
    return std::string("no command; 'mpgbench all --quick' measures everything "
                       "in about a minute");
  options.names.assign(words.begin() + 1, words.end());
  if (words[0] == "list")
    options.command = BenchOptions::Command::list;
  else if (words[0] == "run" && options.names.empty())
    return std::string("run: which experiment? 'mpgbench list' prints them");
  else if (words[0] == "all" && !options.names.empty())
    return "all takes no names; 'run " + printable(options.names[0]) +
           "' measures that alone";
  else if (words[0] != "run" && words[0] != "all")
    return "'" + printable(words[0]) +
           "' is no command; the commands are list, run and all";
  return std::nullopt;
}

std::optional<BenchOptions> mpg::parseOptions(int argc, char **argv,
                                              int &status) {
  OptionTable table;
  CommandLine line(table, programText, ArrayRef(argv + 1, size_t(argc - 1)));
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  BenchOptions options;
  if (std::optional<std::string> error = readValues(line.args(), options))
    return line.usageError(*error, status);
  if (std::optional<std::string> error = readCommand(line.args(), options))
    return line.usageError(*error, status);
  return options;
}
