// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgbench: repeats the experiments of the A64FX guide on the machine at hand,
// with intervals instead of best values. Here are the command line, the files
// that are written and the exit status; experiments are in
// Experiments/Experiment*.cpp, how they are carried out in BenchDriver.h.

#include "Process/Program.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "mpgbench/BenchDriver.h"
#include "mpgbench/Report/BenchReport.h"
#include "mpgbench/Run/Experiment.h"
#include "mpgbench/Run/WorkerProcess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "OptionTable.inc"

using namespace llvm;
using namespace llvm::opt;
using namespace mpg;

namespace {

/// The names of show are one file, those of compare two.
struct BenchOptions : DriveOptions {
  enum class Command : uint8_t { list, run, kit, show, compare };
  Command command = Command::run;
  std::string jsonFile, csvFile, htmlFile; ///< empty: none
};

} // namespace

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
    "  kit [NAME...]       measure what is worth comparing with other\n"
    "                      machines, in 10 minutes at most, into one file\n"
    "                      without names and paths (mpgbench-kit.json)\n"
    "  show FILE           print the report of a file of --json or kit again\n"
    "  --compare A B       two files of --json",
    "\nEXIT STATUS: 0 done, 1 --compare found something worse, 2 usage error, "
    "or a\nfile cannot be read or written, 130 interrupted; what was measured "
    "is written\n",
    2,
    "commands and options"};

/// A whole number from 1 on in \p arg; nothing if it is not one.
static std::optional<uint64_t> readCount(const Arg &arg, uint64_t max) {
  uint64_t value = 0;
  if (StringRef(arg.getValue()).getAsInteger(10, value) || value < 1 ||
      value > max)
    return std::nullopt;
  return value;
}

// Each returns the text of the first error; "": there is none.

static std::string readValues(const InputArgList &args, BenchOptions &options) {
  options.quick = args.hasArg(OPT_quick);
  if (const Arg *arg = args.getLastArg(OPT_repeat)) {
    std::optional<uint64_t> count = readCount(*arg, 1000);
    if (!count)
      return "--repeat=" + printable(arg->getValue()) +
             ": has to be a number from 1 to 1000";
    options.repetitions = unsigned(*count);
  }
  if (const Arg *arg = args.getLastArg(OPT_seed)) {
    std::optional<uint64_t> seed = readCount(*arg, UINT64_MAX);
    if (!seed)
      return "--seed=" + printable(arg->getValue()) +
             ": has to be a number from 1 on";
    options.seed = *seed;
  }
  StringSet<> names;
  for (auto [id, file] : {std::pair(OPT_json, &options.jsonFile),
                          std::pair(OPT_csv, &options.csvFile),
                          std::pair(OPT_html, &options.htmlFile)})
    if (const Arg *arg = args.getLastArg(id)) {
      *file = arg->getValue();
      if (file->empty())
        return arg->getSpelling().str() + " needs the name of a file";
      if (!names.insert(*file).second)
        return *file == "-"
                   ? "only one file can go to standard output"
                   : printable(*file) + " is named twice: a report would "
                                        "overwrite the other";
    }
  return "";
}

/// Not the experiments on settings of the heap: those compare programs, not
/// machines. Small arrays, which are the same ones everywhere.
static void chooseKit(BenchOptions &options) {
  options.command = BenchOptions::Command::kit;
  options.quick = true;
  if (options.names.empty())
    options.names = {"latency", "tlb",  "chase", "triad", "stride", "mix",
                     "loaded",  "gups", "saxpy", "numa",  "vary",   "fault"};
  if (options.jsonFile.empty())
    options.jsonFile = "mpgbench-kit.json";
}

/// The command in the words that are not options.
static std::string readCommand(const InputArgList &args,
                               BenchOptions &options) {
  std::vector<std::string> words;
  for (const Arg *arg : args.filtered(OPT_INPUT))
    words.push_back(arg->getValue());
  if (args.hasArg(OPT_compare)) {
    options.command = BenchOptions::Command::compare;
    options.names = std::move(words);
    if (options.names.size() != 2)
      return "--compare needs two files that --json wrote";
    return "";
  }
  if (words.empty())
    return "no command; 'mpgbench all --quick' measures everything "
           "in about two minutes";
  options.names.assign(words.begin() + 1, words.end());
  if (words[0] == "list")
    options.command = BenchOptions::Command::list;
  else if (words[0] == "run" && options.names.empty())
    return "run: which experiment? 'mpgbench list' prints them";
  else if (words[0] == "all" && !options.names.empty())
    return "all takes no names; 'run " + printable(options.names[0]) +
           "' measures that alone";
  else if (words[0] == "kit")
    chooseKit(options);
  else if (words[0] == "show" && options.names.size() != 1)
    return "show needs one file that --json or kit wrote";
  else if (words[0] == "show")
    options.command = BenchOptions::Command::show;
  else if (words[0] != "run" && words[0] != "all")
    return "'" + printable(words[0]) +
           "' is not a command; the commands are list, run, all, kit and show";
  return "";
}

/// Rejects files of results for a command that has none.
static std::string checkFiles(const InputArgList &args, BenchOptions &options) {
  using Command = BenchOptions::Command;
  bool hasResults =
      options.command != Command::compare && options.command != Command::list;
  const Arg *arg = args.getLastArg(OPT_json, OPT_csv, OPT_html);
  if (hasResults || !arg)
    return "";
  return arg->getSpelling().str() + " is for run, all, kit and show; " +
         (options.command == Command::list ? "list" : "--compare") +
         " prints only";
}

/// Nothing when the program has said all it has to say (--help, --version, a
/// usage error); \p status is then the exit status.
static std::optional<BenchOptions> parseOptions(int argc, char **argv,
                                                int &status) {
  OptionTable table;
  CommandLine line(table, programText, ArrayRef(argv + 1, size_t(argc - 1)));
  if (line.isAnswered(OPT_help, OPT_version, status))
    return std::nullopt;
  BenchOptions options;
  for (auto *read : {readValues, readCommand, checkFiles})
    if (std::string error = read(line.args(), options); !error.empty())
      return line.usageError(error, status);
  return options;
}

/// A point that starts then still ends within ten minutes.
static constexpr unsigned kitSeconds = 530;
/// More than twice what `all` takes; emulated machines and those of many nodes
/// need more than that for a single experiment.
static constexpr unsigned quickSeconds = 300;

static constexpr int exitWorse = 1, exitError = 2, exitInterrupted = 130;

static raw_ostream &error() { return errs() << "mpgbench: error: "; }

/// A file of results and what fills it.
struct ResultFile {
  const std::string &name;
  void (*write)(raw_ostream &out, const BenchRun &run);
  bool isOutput() const { return name == "-"; }
};

static bool report(const std::string &name, std::error_code code) {
  if (code)
    error() << printable(name) << ": " << code.message() << "\n";
  return !code;
}

// list, run, --compare

/// Of all experiments one line each; of named ones their points.
static void list(const BenchRun &run, bool showsPoints) {
  for (const ExperimentResult &experiment : run.experiments) {
    outs() << left_justify(experiment.name, 7) << " " << experiment.title
           << "\n";
    for (const PointResult &point : experiment.points)
      if (showsPoints)
        outs() << "  " << point.name
               << (point.missing.empty() ? "" : ": " + point.missing) << "\n";
  }
}

/// The files come first: a pipe that is not read any more ends the program.
/// One that goes to standard output has it for itself.
static bool writeResults(ArrayRef<ResultFile> files, const BenchRun &run) {
  bool written = true;
  for (const ResultFile &file : files)
    if (!file.name.empty() && !file.isOutput())
      written &= report(file.name, writeOutputFile(file.name, [&](auto &out) {
                          file.write(out, run);
                        }));
  const ResultFile *forOutput =
      find_if(files, [](const ResultFile &file) { return file.isOutput(); });
  if (forOutput != files.end())
    forOutput->write(outs(), run);
  writeBenchText(forOutput != files.end() ? errs() : outs(), run);
  return written;
}

static int measure(BenchRun &run, const BenchOptions &options,
                   const DriveOptions &drive) {
  const ResultFile files[] = {{options.jsonFile, writeBenchJson},
                              {options.csvFile, writeBenchCsv},
                              {options.htmlFile, writeBenchHtml}};
  for (const ResultFile &file : files)
    if (!file.name.empty() && !file.isOutput() &&
        !report(file.name, checkOutputFile(file.name)))
      return exitError;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    if (signal(number, [](int) { endWorkers(); }) == SIG_IGN &&
        number == SIGHUP)
      signal(number, SIG_IGN); // nohup
  driveExperiments(run, drive);
  if (options.command == BenchOptions::Command::kit)
    anonymise(run, namesOfThisPlace());
  if (!writeResults(files, run))
    return exitError;
  return areWorkersEnded() ? exitInterrupted : 0;
}

static std::optional<BenchRun> readRun(const std::string &name) {
  constexpr uint64_t limitBytes = 256 << 20;
  Expected<std::unique_ptr<MemoryBuffer>> text = readTextFile(name, limitBytes);
  Expected<BenchRun> run =
      text ? readBenchJson((*text)->getBuffer(), name) : text.takeError();
  if (run)
    return std::move(*run);
  error() << printable(toString(run.takeError())) << "\n";
  return std::nullopt;
}

static int show(const BenchOptions &options) {
  std::optional<BenchRun> run = readRun(options.names[0]);
  if (!run)
    return exitError;
  const ResultFile files[] = {{options.jsonFile, writeBenchJson},
                              {options.csvFile, writeBenchCsv},
                              {options.htmlFile, writeBenchHtml}};
  return writeResults(files, *run) ? 0 : exitError;
}

static int compare(const BenchOptions &options) {
  std::optional<BenchRun> before = readRun(options.names[0]);
  std::optional<BenchRun> after = readRun(options.names[1]);
  if (!before || !after)
    return exitError;
  return writeComparison(outs(), *before, *after) > 0 ? exitWorse : 0;
}

static int run(const BenchOptions &options, const std::string &self) {
  if (options.command == BenchOptions::Command::compare)
    return compare(options);
  if (options.command == BenchOptions::Command::show)
    return show(options);
  DriveOptions drive = options;
  drive.self = self;
  drive.library = findLibrary(self, MPG_LIBRARY_FOLDER, "libmpgrt.so.1");
  if (!canBePreloaded(drive.library))
    drive.library.clear();
  drive.isLimitStrict = options.command == BenchOptions::Command::kit;
  drive.limitSeconds = drive.isLimitStrict ? kitSeconds
                       : options.quick     ? quickSeconds
                                           : 0;
  drive.showsProgress = isatty(STDERR_FILENO);
  Expected<BenchRun> planned = planExperiments(drive, readNode(SysTree("/")));
  if (!planned) {
    error() << toString(planned.takeError()) << "\n";
    return exitError;
  }
  if (options.command == BenchOptions::Command::list) {
    list(*planned, !options.names.empty());
    return 0;
  }
  return measure(*planned, options, drive);
}

int main(int argc, char **argv) {
  outs().SetBuffered();
  int status = 0;
  // The driver starts this; not an option, so that --help does not show it.
  if (argc > 1 && StringRef(argv[1]) == "worker")
    return runWorker(ArrayRef(argv + 2, size_t(argc - 2)));
  if (std::optional<BenchOptions> options = parseOptions(argc, argv, status))
    status = run(*options, sys::fs::getMainExecutable(
                               argv[0], reinterpret_cast<void *>(&main)));
  return endOutput("mpgbench", status);
}
