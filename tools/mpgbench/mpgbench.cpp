// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgbench: repeats the experiments of the A64FX guide on the machine at hand,
// with intervals instead of best values. Here are the command line, the files
// that are written and the exit status; experiments are in
// Experiments/Experiment*.cpp, how they are carried out in
// Run/BenchDriver.h.

#include "Options.h"
#include "Process/RuntimeLibrary.h"
#include "Support/Format.h"
#include "Support/OutputFile.h"
#include "Support/TextFile.h"
#include "mpgbench/Run/BenchDriver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

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

//===----------------------------------------------------------------------===//
// list, run, --compare
//===----------------------------------------------------------------------===//

/// Of all experiments one line each; of named ones their points.
static void list(const BenchRun &run, bool showsPoints) {
  for (const ExperimentResult &experiment : run.experiments) {
    outs() << left_justify(experiment.name, 8) << experiment.title << "\n";
    for (const PointResult &point : experiment.points)
      if (showsPoints)
        outs() << "  " << point.name
               << (point.missing.empty() ? "" : ": " + point.missing) << "\n";
  }
}

/// The files come first: a pipe that nobody reads any more ends the program.
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
    if (signal(number, [](int) { stopDriving(); }) == SIG_IGN &&
        number == SIGHUP)
      signal(number, SIG_IGN); // nohup
  driveExperiments(run, drive);
  if (!writeResults(files, run))
    return exitError;
  return isDrivingStopped() ? exitInterrupted : 0;
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
  DriveOptions drive;
  drive.names = options.names;
  drive.quick = options.quick;
  drive.repetitions = options.repetitions;
  drive.seed = options.seed;
  drive.self = self;
  drive.library = findRuntimeLibrary(self, MPG_LIBRARY_FOLDER);
  if (!canBePreloaded(drive.library))
    drive.library.clear();
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
  // What the driver starts; no option, so that --help does not show it.
  if (argc > 1 && StringRef(argv[1]) == "worker")
    return runWorker(ArrayRef(argv + 2, size_t(argc - 2)));
  if (std::optional<BenchOptions> options = parseOptions(argc, argv, status))
    status = run(*options, sys::fs::getMainExecutable(
                               argv[0], reinterpret_cast<void *>(&main)));
  outs().flush();
  if (outs().has_error()) {
    error() << "cannot write the report: " << outs().error().message() << "\n";
    outs().clear_error();
    status = exitError;
  }
  // A closed or full standard error loses messages, not the exit status.
  errs().clear_error();
  return status;
}
