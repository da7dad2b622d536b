// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgsim: runs a program that was compiled with --mpg-sim, feeds what it
// accesses to the memory model, and reports. The program runs without
// randomised addresses, so that each run says the same; what it prints, its
// status and its signal are its own.

#include "mpgsim.h"
#include "CommandLine.h"
#include "Machines/MachineFile.h"
#include "Process/Program.h"
#include "Process/Ranks.h"
#include "Process/Supervisor.h"
#include "SimReport.h"
#include "SimRun/SimHistory.h"
#include "Support/Files.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <set>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

/// A name is that of a file of the installation.
static std::string machinePath(const std::string &machine, const char *self) {
  if (StringRef(machine).contains('/') || StringRef(machine).ends_with(".yaml"))
    return machine;
  SmallString<128> path(sys::path::parent_path(sys::fs::getMainExecutable(
      self, reinterpret_cast<void *>(&machinePath))));
  sys::path::append(path, MPG_MACHINE_FOLDER, machine + ".yaml");
  return path.str().str();
}

namespace {
/// One run, from the machine's file to the report.
class Simulation {
public:
  Simulation(const SimOptions &options, const char *self)
      : options(options), self(self), files(options) {}
  /// mpgsim's own status, or nothing: then ending() is the program's.
  std::optional<int> run();
  const SimEnding &ending() const { return theEnding; }
  const SimReport &result() const { return report; }

private:
  bool prepare();
  bool prepareQuotas();
  bool isStreamKnown() const;
  std::optional<int> runProgram();
  std::optional<int> chooseCommand(std::string &path,
                                   std::vector<std::string> &command);
  bool isRecorded() const;
  bool isEmulated() const;
  int writeReport();

  const SimOptions &options;
  const char *self; ///< argv[0]
  sim::Machine machine;
  SimQuotas quotas;
  std::unique_ptr<sim::SimProgram> program;
  std::optional<sim::SimHistory> history;
  SimOutput files;
  SimQemu qemu;
  SimRing ring;
  SimEnding theEnding;
  SimSampled sampled;
  SimReport report;
};
} // namespace

/// Without arrays for sector 1 there is nothing to divide a cache for.
bool Simulation::prepareQuotas() {
  if (options.stream.empty())
    return true;
  quotas = getQuotas(machine);
  if (!quotas.ways.empty())
    return true;
  simError() << "--stream=: " << printable(machine.name)
             << " has no sector cache; leave it out, or take --machine=a64fx\n";
  return false;
}

/// The names of the machine files, sorted.
static std::string listMachines(StringRef folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (sys::fs::directory_iterator file(folder, error), end;
       !error && file != end; file.increment(error))
    if (sys::path::extension(file->path()) == ".yaml")
      names.push_back(sys::path::stem(file->path()).str());
  sort(names);
  return join(names, ", ");
}

static bool readMachine(const SimOptions &options, const char *self,
                        sim::Machine &machine) {
  std::string path = machinePath(options.machine, self);
  std::string problem = sim::readMachine(path, machine);
  if (problem.empty())
    return true;
  std::string known = machinePath("a64fx", self);
  StringRef folder = sys::path::parent_path(known);
  if (path != options.machine && !sys::fs::is_directory(folder)) {
    simError() << printable(folder)
               << " is missing: the installation is not whole; install "
                  "mpgtools again\n";
    return false;
  }
  simError() << printable(problem) << "; --machine= takes "
             << listMachines(folder) << " or a file\n";
  return false;
}

bool Simulation::prepare() {
  if (!readMachine(options, self, machine))
    return false;
  for (uint64_t page : options.pages)
    if (!is_contained(machine.pageBytes, page)) {
      simError() << "--pages=: " << printable(machine.name)
                 << " has no pages of " << formatBytes(page) << "\n";
      return false;
    }
  if (!options.pages.empty())
    machine.pageBytes = options.pages;
  sim::WhatIf whatIf;
  whatIf.pageBytes = machine.pageBytes;
  whatIf.placements = getPlacements(machine);
  whatIf.mapSeeds.clear();
  for (unsigned seed = 1; seed <= options.maps; ++seed)
    whatIf.mapSeeds.push_back(seed);
  if (!prepareQuotas())
    return false;
  if (!quotas.ways.empty())
    whatIf.limits = quotas.limits();
  program = std::make_unique<sim::SimProgram>(machine, whatIf,
                                              options.spreadsThreads
                                                  ? sim::ThreadPlaces::spread
                                                  : sim::ThreadPlaces::compact);
  program->setStream(options.stream);
  history.emplace(*program);
  if (!files.open())
    return false;
  unsigned cores = machine.groups.count * machine.groups.coresEach;
  std::string problem =
      ring.open(std::min(cores, MPG_SIM_LANES), options.sample);
  if (!problem.empty())
    simError() << problem << "\n";
  return problem.empty();
}

/// Without the ring that this process may have been given itself, by an mpgsim
/// around it.
static std::vector<std::string> environmentWith(const std::string &setting) {
  std::vector<std::string> all;
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with(MPG_SIM_VARIABLE "="))
      all.push_back(*entry);
  if (!setting.empty())
    all.push_back(setting);
  return all;
}

static int refuse(const std::string &name, int reason) {
  simError() << "cannot run " << printable(name) << ": " << strerror(reason)
             << (reason == ENOEXEC
                     ? "; a program for AArch64 runs with --engine=qemu\n"
                     : "\n");
  return reason == ENOENT ? simNotFound : simNotExecutable;
}

/// Of the programs that have ended.
static uint64_t processorNs() {
  rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  auto us = [](const timeval &time) {
    return uint64_t(time.tv_sec) * 1000000 + uint64_t(time.tv_usec);
  };
  return 1000 * (us(usage.ru_utime) + us(usage.ru_stime));
}

/// The command to start: the program, or qemu with it.
std::optional<int>
Simulation::chooseCommand(std::string &path,
                          std::vector<std::string> &command) {
  const char *searchPath = getenv("PATH");
  Program found = findProgram(options.command[0],
                              searchPath ? searchPath : "/usr/bin:/bin");
  if (found.kind == ProgramKind::missing)
    return refuse(options.command[0], ENOENT);
  path = found.path;
  command = options.command;
  if (!options.usesQemu)
    return std::nullopt;
  if (found.kind == ProgramKind::directory)
    return refuse(options.command[0], EACCES);
  std::string problem = findQemu(options, found.path, self, qemu);
  if (!problem.empty()) {
    simError() << problem << "\n";
    return simOwnError;
  }
  if (qemu.hasThreads)
    program->expectThreads();
  path = qemu.path;
  command = qemuCommand(qemu, options, found.path, ring.path());
  return std::nullopt;
}

std::optional<int> Simulation::runProgram() {
  std::string path;
  std::vector<std::string> command;
  if (std::optional<int> status = chooseCommand(path, command))
    return status;
  // Inherited by the program: which sets of a cache its data falls into would
  // else differ from run to run.
  personality(unsigned(personality(0xffffffff)) | ADDR_NO_RANDOMIZE);
  uint64_t before = processorNs();
  bool warmsUp = ring.head().warmsUp;
  std::string problem =
      ring.start([=](const mpg_sim_record *chunk, unsigned records) {
        if (warmsUp)
          history->read(chunk, records, ring.isOpenElsewhere());
        else
          program->read(chunk, records);
        if (llvm::raw_fd_ostream *file = files.record()) {
          size_t bytes = records * sizeof(*chunk);
          file->write(reinterpret_cast<const char *>(chunk), bytes);
          file->write_zeros(unsigned(MPG_SIM_CHUNK_BYTES - bytes));
        }
      });
  if (!problem.empty()) {
    simError() << problem << "\n";
    return simOwnError;
  }
  SupervisedRun result = runSupervised(
      path, command,
      options.usesQemu ? environmentWith("")
                       : environmentWith(MPG_SIM_VARIABLE "=" + ring.path()),
      /*trace=*/false, [](pid_t) {});
  ring.finish();
  history->finish();
  uint64_t runNs = processorNs() - before;
  if (!result.error.empty()) {
    simError() << "cannot start a process: " << result.error << "\n";
    return simOwnError;
  }
  if (result.execError)
    return refuse(options.usesQemu ? path : options.command[0],
                  result.execError);
  const mpg_sim_ring &head = ring.head();
  theEnding = {result.waitStatus, head.otherThreads, head.otherProcesses,
               head.lostAccesses, ring.skips()};
  // A region that is open at the end has only its begin subtracted so far.
  sampled = {options.sample, head.regions,
             head.functions, head.loneEnds,
             head.open != 0, head.regionNs + (head.open ? runNs : 0),
             runNs};
  return std::nullopt;
}

/// Whether there is something to report; says why if there is not.
bool Simulation::isRecorded() const {
  std::string name = printable(options.command[0]);
  if (ring.head().otherVersion) {
    simError() << name << " was compiled with version "
               << ring.head().otherVersion << " of --mpg-sim, this is version "
               << MPG_SIM_VERSION << "; compile and link it again\n";
    return false;
  }
  if (options.usesQemu)
    return isEmulated();
  if (!ring.head().owner) {
    simError() << name << " " << describeEnding(theEnding)
               << ", and said nothing of what it accesses; compile and link it "
                  "with 'mpg-clang --mpg-sim' (mpg-clang++, mpg-flang)\n";
    return false;
  }
  if (!program->moduleError().empty()) {
    simError() << name << ": " << printable(program->moduleError()) << "\n";
    return false;
  }
  return true;
}

/// The same of a program under qemu.
bool Simulation::isEmulated() const {
  std::string name = printable(options.command[0]);
  int status = theEnding.waitStatus;
  if (program->hasUnseenSve() && WIFSIGNALED(status) &&
      WTERMSIG(status) == SIGILL) {
    simError() << name << " needs SVE, and " << printable(qemu.path)
               << " is older than QEMU 9, which is the first to say what SVE "
                  "instructions access; name a newer one with --qemu=\n";
    return false;
  }
  if (ring.head().owner && program->hasAccesses())
    return true;
  simError() << name << " " << describeEnding(theEnding)
             << " before its first access; "
             << (ring.head().owner
                     ? "are the libraries of its machine there? Set "
                       "QEMU_LD_PREFIX to the folder with its /lib\n"
                     : "qemu could not load MpgQemu.so: see its message\n");
  return false;
}

/// A name that is none would pass for an array that is worth nothing.
bool Simulation::isStreamKnown() const {
  for (const std::string &name : options.stream)
    if (!program->streamSeen().count(name)) {
      simError() << "--stream=: " << printable(options.command[0])
                 << " accessed no array '" << printable(name)
                 << "'; the report without it names those that it did\n";
      return false;
    }
  return true;
}

int Simulation::writeReport() {
  program->finish();
  if (options.usesQemu) {
    SimSources sources;
    program->nameInstructions([&](const std::string &path, uint64_t address) {
      return sources.find(path, address);
    });
  }
  report = makeReport(*program, machine, options.maps, quotas);
  report.ending = theEnding;
  report.sampled = sampled;
  report.sampled.warmUpAccesses = program->warmUpAccesses();
  report.stream = options.stream;
  report.command = options.command;
  if (hasOtherRanks())
    report.ranks = {{worldRank(), report.all.accesses, theEnding.waitStatus}};
  if (options.isQuiet)
    return 0;
  return files.write(report) ? 0 : simOwnError;
}

std::optional<int> Simulation::run() {
  if (!prepare())
    return simOwnError;
  if (std::optional<int> status = runProgram())
    return status;
  if (!isRecorded() || !isStreamKnown() || writeReport() != 0)
    return simOwnError;
  return std::nullopt;
}

/// For a second run: input from its beginning, and no output. Writing would do
/// all twice.
static bool rewindStandard() {
  lseek(STDIN_FILENO, 0, SEEK_SET);
  int nothing = open("/dev/null", O_WRONLY);
  if (nothing < 0)
    return false;
  bool isDone = dup2(nothing, STDOUT_FILENO) >= 0;
  close(nothing);
  return isDone;
}

/// "": the advice is written. Else why not.
static std::string writeHints(const SimReport &report,
                              const StreamChoice &choice,
                              const std::string &path) {
  if (!bestQuota(report)) {
    std::string merged = describeMergedArrays(report);
    return merged.empty() ? describeQuotaVerdict(report) : merged;
  }
  if (!hasHint(report, choice))
    return describeQuotaVerdict(report) +
           "; but a side file cannot name it: put " + describeMarking(choice);
  std::error_code code = writeOutputFile(
      path, [&](raw_ostream &out) { writeAdvice(out, report, choice); });
  return code ? "the file cannot be written: " + code.message() : "";
}

/// Why \p first, or a second run, gives no hints; "": it may.
static std::string whyNoHints(const SimReport &first,
                              const StreamChoice &choice) {
  if (first.ending.waitStatus != 0)
    return "the program " + describeEnding(first.ending);
  std::string merged = describeMergedArrays(first);
  bool isMerged = !merged.empty() && !getQuotas(first.machine).ways.empty();
  return !choice.reason.empty() && isMerged ? merged : choice.reason;
}

/// Runs the program once more with what \p first showed. \returns the status if
/// that failed.
static std::optional<int> advise(const SimOptions &options,
                                 const SimReport &first, const char *self) {
  StreamChoice choice = chooseStream(first);
  std::string why = whyNoHints(first, choice), gain;
  if (why.empty()) {
    SimOptions again = options;
    again.stream = choice.names();
    again.isQuiet = true;
    again.html = again.output = again.record = "";
    if (!rewindStandard()) {
      simError() << "there is no /dev/null for the second run\n";
      return simOwnError;
    }
    Simulation second(again, self);
    if (std::optional<int> own = second.run())
      return own;
    const SimReport &divided = second.result();
    why =
        divided.ending.waitStatus == 0
            ? writeHints(divided, choice, options.advise)
            : "in the second run the program " + describeEnding(divided.ending);
    gain = describeQuotaVerdict(divided);
  }
  errs() << "mpgsim: "
         << (why.empty()
                 ? "hints written to " + printable(options.advise) + ": " + gain
                 : "no hints written: " + why)
         << "\n";
  return std::nullopt;
}

/// Adds the report in the file \p path to \p all, or is the first. \returns ""
/// or what is wrong.
static std::string addFile(const std::string &path, const sim::Machine &machine,
                           const std::string &first, SimReport &all) {
  auto file = readUnmapped(path, maxSimBytes);
  if (!file)
    return readFailure(file.getError());
  SimReport rank;
  std::string problem = readSimReport((*file)->getBuffer(), machine, rank);
  if (!problem.empty())
    return problem;
  if (path != first)
    return addRank(all, rank, printable(first));
  all = rank;
  return "";
}

/// mpgsim --merge: the status.
static int mergeRanks(const SimOptions &options, const char *self) {
  sim::Machine machine;
  SimOutput files(options);
  if (!readMachine(options, self, machine))
    return simOwnError;
  SimReport all;
  std::set<sys::fs::UniqueID> seen;
  for (const std::string &path : options.command) {
    sys::fs::UniqueID id;
    std::string problem;
    if (!sys::fs::getUniqueID(path, id) && !seen.insert(id).second)
      problem = "is named twice";
    else
      problem = addFile(path, machine, options.command[0], all);
    if (problem.empty())
      continue;
    simError() << "--merge: " << printable(path) << ": " << problem << "\n";
    return simOwnError;
  }
  sortReport(all);
  bool isWritten =
      files.open() && files.write(all) && endOutput("mpgsim", 0) == 0;
  return isWritten ? 0 : simOwnError;
}

static int runAsAsked(int argc, char **argv) {
  int status = 0;
  std::optional<SimOptions> options = parseOptions(argc, argv, status);
  if (!options)
    return status;
  if (options->merges)
    return mergeRanks(*options, argv[0]);
  SimEnding ending;
  // Its ring and files are closed before this process ends as the program did,
  // which may be by a signal.
  {
    Simulation simulation(*options, argv[0]);
    if (std::optional<int> own = simulation.run())
      return *own;
    ending = simulation.ending();
    if (!options->advise.empty())
      if (std::optional<int> own =
              advise(*options, simulation.result(), argv[0]))
        return *own;
  }
  errs().flush();
  // A closed or full standard error loses messages, not the exit status.
  errs().clear_error();
  endLike(ending.waitStatus);
}

int main(int argc, char **argv) {
  int status = runAsAsked(argc, argv);
  errs().clear_error(); // else LLVM ends with 1 where no message can be written
  return status;
}
