// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun: starts one program with libmpg preloaded. Without a report it only
// prepares the environment and becomes the program. With one it stays behind,
// inspects the program's memory in its last moment, and then ends in the same
// way. One line before the start names a problem with the program at hand (a
// script, a static or setuid program). Comparing modes is another job:
// Compare.cpp.

#include "mpgrun.h"
#include "CommandLine.h"
#include "Measure/MachineLoad.h"
#include "Options.h"
#include "Process/Program.h"
#include "Process/Ranks.h"
#include "Process/StateFile.h"
#include "Process/Supervisor.h"
#include "Process/TextPages.h"
#include "Profile/Profile.h"
#include "Support/Format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

namespace {

/// How mpgrun ends: with its own status, or as the program did.
struct Outcome {
  std::optional<int> own;
  int waitStatus = 0;
};

class Runner {
public:
  Runner(RunOptions options, std::string libraryPath)
      : options(std::move(options)), libraryPath(std::move(libraryPath)) {}
  int run();

private:
  bool isReportWanted() const {
    return options.report || options.isProfiling() || options.verify ||
           options.verifyText || !options.reportFile.empty() ||
           !options.jsonFile.empty();
  }
  StringRef textMode() const;
  void explainProgram() const;
  void prepareEnvironment(int stateFd);
  int printPlan() const;
  int become();
  struct StateFile {
    int fd = -1;           ///< below zero: it could not be made
    bool hasTable = false; ///< of blocks of the heap, for a profile
  };
  RunReport beginReport() const;
  StateFile openStateFile(RunReport &report) const;
  SupervisedRun watch(int stateFd, RunReport &report,
                      ProfileRecorder &recorder) const;
  void addStateFile(int stateFd, RunReport &report) const;
  Outcome runAndReport();
  bool speaksForRanks() const;
  std::optional<int> finish(const SupervisedRun &result, RunReport &report);
  void writeProfile(const SupervisedRun &result, const RunReport &report,
                    ProfileRecorder &recorder, double seconds);
  void writeFile(const std::string &pattern, pid_t pid,
                 function_ref<void(raw_ostream &)> write);

  RunOptions options;
  std::string libraryPath;     ///< empty: this node has no usable one
  bool areFilesWritten = true; ///< all that were asked for
  Program program;
  Settings settings; ///< what the program's environment gets
};

/// Switches the tag override while it lives.
class TagSwitch {
public:
  explicit TagSwitch(std::optional<bool> wanted);
  ~TagSwitch();
  bool failed() const { return hasFailed; }

private:
  bool isOff = false;
  bool hasFailed = false;
  std::string command;
};

} // namespace

// HPC tags

TagSwitch::TagSwitch(std::optional<bool> wanted) {
  if (!wanted)
    return;
  const char *own = getenv("MPG_FHETBO");
  command = own ? own : tagCommandPath;
  if (StringRef(command).contains('\'') || !sys::fs::can_execute(command)) {
    error() << "--hpc-tags: " << printable(command)
            << " is not there; it belongs to Fujitsu's system software for "
               "A64FX\n";
    hasFailed = true;
    return;
  }
  Expected<std::string> said = switchTags(command, *wanted);
  if (!said) {
    error() << "--hpc-tags: " << toString(said.takeError()) << "\n";
    hasFailed = true;
    return;
  }
  isOff = !*wanted;
  note() << *said << "; this holds for all cores of the job on this node\n";
}

/// On is what a job begins with.
TagSwitch::~TagSwitch() {
  if (!isOff)
    return;
  Expected<std::string> said = switchTags(command, true);
  if (said)
    note() << *said << " again\n";
  else
    error() << "cannot switch the HPC tag override on again: "
            << toString(said.takeError()) << "; it comes back when the job "
            << "ends\n";
}

// Before the run

/// Reports obstacles for a preloaded library, or for the program itself. The
/// program runs anyway.
void Runner::explainProgram() const {
  if (!speaksForNode() || options.quiet)
    return;
  if (std::string conflict = findTagConflict(program); !conflict.empty())
    note() << conflict << "\n";
  if (options.moves)
    if (std::string why = findMoveObstacle(); !why.empty())
      note() << "--move: " << why << "\n";
  if (options.mode == "none")
    return;
  Obstacle obstacle = findObstacle(options, program);
  if (!obstacle.text.empty())
    note() << obstacle.text << "\n";
  if (const char *name = rdmaForkVariable(program, options.mode))
    note() << "RDMAV_HUGEPAGES_SAFE=1 is set, because " << name
           << " is: libibverbs keeps memory from children by whole large pages "
              "then; set it yourself to be rid of this line\n";
}

/// The value of MPG_TEXT that the program gets; empty: none.
StringRef Runner::textMode() const {
  const char *text = getenv("MPG_TEXT");
  return options.text.empty() && text ? StringRef(text) : options.text;
}

void Runner::prepareEnvironment(int stateFd) {
  settings =
      libmpgSettings(options, program, libraryPath,
                     options.modeGiven ? options.mode : StringRef(), stateFd);
}

int Runner::printPlan() const {
  for (const auto &[name, value] : settings)
    outs() << name << "=" << printable(value) << "\n";
  outs() << printable(program.path);
  for (const std::string &argument : ArrayRef(options.command).drop_front())
    outs() << " " << printable(argument);
  outs() << "\n";
  return endOutput("mpgrun", 0) == 0 ? 0 : exitOwnError;
}

int Runner::become() {
  std::vector<char *> arguments;
  for (std::string &argument : options.command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  outs().flush();
  execv(program.path.c_str(), arguments.data());
  return refuseProgram(options, program, errno);
}

// With a report

/// Nothing for an empty \p pattern.
void Runner::writeFile(const std::string &pattern, pid_t pid,
                       function_ref<void(raw_ostream &)> write) {
  if (!pattern.empty())
    areFilesWritten &= writeReportFile(pattern, pid, write);
}

/// Whether this rank's report is printed: one of each node or, where ranks
/// leave files for --merge, one of the job.
bool Runner::speaksForRanks() const {
  bool leavesFile = !options.jsonFile.empty() || !options.dataFile.empty();
  return speaksForNode() && (!leavesFile || worldRank() == "0");
}

/// Prints what is missing by the option \p name. True if that is nothing.
static bool isEmpty(StringRef name, const std::vector<std::string> &missing) {
  for (const std::string &reason : missing)
    error() << name << ": " << reason << "\n";
  return missing.empty();
}

/// Prints what was asked for. Returns a status of our own only if the program
/// ended with 0.
std::optional<int> Runner::finish(const SupervisedRun &result,
                                  RunReport &report) {
  report.waitStatus = result.waitStatus;
  writeFile(options.jsonFile, result.pid,
            [&](raw_ostream &out) { writeRunJson(out, report); });
  writeFile(options.reportFile, result.pid,
            [&](raw_ostream &out) { writeRunText(out, report); });
  if (options.report && speaksForRanks()) {
    writeRunText(errs(), report);
    if (hasOtherRanks())
      errs() << "  this is rank " << worldRank()
             << (options.jsonFile.empty()
                     ? "; of each rank: --report=FILE-%r\n"
                     : "; of all ranks: mpgrun --merge FILE...\n");
  }
  bool endedWell = result.waitStatus == 0;
  bool isVerified = !options.verify || isEmpty("--verify", findMissing(report));
  if (options.verifyText)
    isVerified &= isEmpty("--verify=text", findMissingText(report));
  if (!isVerified && endedWell)
    return exitNotVerified;
  if (!areFilesWritten && endedWell)
    return exitOwnError;
  return std::nullopt;
}

/// Why a profile is incomplete; "" if it is not.
static std::string findProfileProblem(const SupervisedRun &result,
                                      const Program &program, bool isMeasured,
                                      const RunReport &report, bool hasTable) {
  if (!isMeasured && program.isPrivileged)
    return "it runs with rights of its own (setuid, file capabilities), so "
           "its memory may not be read: profile a copy of the program "
           "without these rights";
  if (!isMeasured && !result.traced)
    return "it was not traced (it calls ptrace itself, or the system forbids "
           "it: kernel.yama.ptrace_scope, seccomp), so its memory was not read";
  bool isKilled =
      WIFSIGNALED(result.waitStatus) && WTERMSIG(result.waitStatus) == SIGKILL;
  if (!isMeasured && !isKilled)
    return "its memory could not be read in /proc at the end; mount it where "
           "it is hidden: mount -t proc proc /proc";
  if (!isMeasured)
    return "it was killed, so its memory could not be read at the end; what "
           "it had is known as far as it was seen before";
  if (!report.hasState && report.unheard.empty())
    return describeAbsence(report) + "; so blocks of the heap are not known by "
                                     "where they were allocated";
  if (!hasTable)
    return "blocks of the heap are not known by where they were allocated: a "
           "limit on the size of files leaves no room for the table; raise it "
           "(ulimit -f unlimited)";
  return "";
}

static std::string typedCommand(ArrayRef<std::string> words) {
  std::string typed;
  for (StringRef word : words)
    typed += (typed.empty() ? "" : " ") + printable(shellWord(word));
  return typed;
}

void Runner::writeProfile(const SupervisedRun &result, const RunReport &report,
                          ProfileRecorder &recorder, double seconds) {
  Profile profile;
  profile.program = options.command[0];
  profile.place = report.place;
  profile.waitStatus = result.waitStatus;
  profile.seconds = seconds;
  profile.firstThread = uint32_t(result.pid);
  recorder.finish(profile);
  if (program.isPrivileged && profile.faults == 0)
    profile.faultsMissing = "not available: the kernel shows none of a program "
                            "with rights of its own";
  profile.problem = findProfileProblem(result, program, profile.isMeasured,
                                       report, recorder.hasTable());
  writeFile(options.dataFile, result.pid,
            [&](raw_ostream &out) { writeProfileJson(out, profile); });
  writeFile(options.htmlFile, result.pid,
            [&](raw_ostream &out) { writeProfileHtml(out, profile); });
  writeFile(options.profileFile, result.pid,
            [&](raw_ostream &out) { writeProfileText(out, profile); });
  if (options.profileFile.empty() && options.profile && speaksForRanks())
    writeProfileText(errs(), profile);
  if (options.advise && speaksForRanks())
    writeAdvice(errs(),
                adviseNext(report, profile, typedCommand(options.command)));
}

/// Fills in what is known before the run.
RunReport Runner::beginReport() const {
  RunReport report;
  report.program = options.command[0];
  report.place = getRankPlace();
  const char *asked = options.modeGiven ? nullptr : getenv("MPG_MODE");
  report.mode = asked && isMode(asked) ? asked : options.mode;
  if (program.keepsDefaults()) {
    report.mode = "auto";
    report.unheard = "it is linked into the program, which runs with the "
                     "rights of another user or group";
  }
  if (libraryPath.empty())
    report.unheard = "its library is not on this node";
  const char *maps = getenv("MPG_MMAP");
  report.asksForOwnMaps = maps && StringRef(maps) == "thp";
  const char *moved = getenv("MPG_REMAP");
  report.asksForLibraries = moved && StringRef(moved) == "all";
  report.hints = readHintReport(program.path);
  return report;
}

/// The file through which libmpg reports, and what it is asked to report.
Runner::StateFile Runner::openStateFile(RunReport &report) const {
  StateFile file;
  file.fd = makeStateFile(options.children, isReportWanted());
  if (file.fd < 0)
    report.unheard =
        std::string("mpgrun cannot make the file into which libmpg writes "
                    "it: ") +
        (errno == EFBIG ? "a limit on the size of files leaves no room for "
                          "it; raise it (ulimit -f unlimited)"
                        : strerror(errno));
  file.hasTable = options.isProfiling() && addProfileTable(file.fd);
  if (options.workingSet && file.hasTable)
    requestFrames(file.fd);
  return file;
}

/// Runs the program and reads its memory in its last moment.
SupervisedRun Runner::watch(int stateFd, RunReport &report,
                            ProfileRecorder &recorder) const {
  // For the program, which inherits it; large pages would hide accesses.
  if (options.workingSet)
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  auto inspectAtEnd = [&](pid_t pid) {
    std::optional<ProgramMemory> memory = readProgramMemory(pid, stateFd);
    if (!memory)
      return;
    addMemory(*memory, report);
    if (options.isProfiling())
      recorder.inspectAtEnd(pid, std::move(*memory));
  };
  auto inspectAtStart = [&](pid_t pid, bool isTraced) {
    if (!isTraced)
      requestEnd(stateFd);
    if (options.isProfiling())
      recorder.start(pid);
  };
  auto inspectNow = [&](pid_t pid) { recorder.inspect(pid); };
  RunLooks looks;
  looks.atStart = inspectAtStart;
  if (options.isProfiling())
    looks.atTick = inspectNow;
  // A traced process would get no rights of others: see ptrace(2).
  bool trace =
      isReportWanted() && !program.isPrivileged && !program.tracesItself;
  return runSupervised(program.path, options.command,
                       environmentWith(settings, options.children), trace,
                       inspectAtEnd, looks);
}

/// Adds to the report what libmpg wrote into the file.
void Runner::addStateFile(int stateFd, RunReport &report) const {
  if (!report.measured)
    if (std::optional<ProgramMemory> told = readToldMemory(stateFd))
      addMemory(*told, report);
  if (std::unique_ptr<mpg_state> state = readStateFile(stateFd))
    addState(report, *state);
  if (options.children)
    readProcesses(stateFd, report);
  explainText(report, program.path, textMode());
}

Outcome Runner::runAndReport() {
  RunReport report = beginReport();
  StateFile file = openStateFile(report);
  ProfileRecorder recorder(file.fd, file.hasTable, options.workingSet);
  prepareEnvironment(file.fd);
  StallCounts stalls = readStallCounts(SysTree("/"));
  double start = nowSeconds();
  SupervisedRun result = watch(file.fd, report, recorder);
  double seconds = nowSeconds() - start;
  if (!result.error.empty()) {
    error() << result.error << "\n";
    return {exitOwnError};
  }
  if (result.execError)
    return {refuseProgram(options, program, result.execError)};
  report.stalls = stallsBetween(stalls, readStallCounts(SysTree("/")));
  addStateFile(file.fd, report);
  if (options.isProfiling())
    writeProfile(result, report, recorder, seconds);
  return {finish(result, report), result.waitStatus};
}

int Runner::run() {
  // A comparison asks which of them were closed; a plan needs one to write to.
  if (!options.isComparing() && !options.dryRun)
    fillStandardFiles(ClosedFile::staysClosed);
  const char *searchPath = getenv("PATH");
  program =
      findProgram(options.command[0],
                  searchPath ? searchPath : "/usr/local/bin:/usr/bin:/bin");
  int status = 0;
  if (!canBeTried(options, program, status))
    return status;
  if (options.isComparing()) {
    TagSwitch tags(options.hpcTags);
    return tags.failed() ? exitOwnError
                         : runComparison(options, program, libraryPath);
  }
  if (std::optional<RankOrder> order = readRankOrder())
    return runComparedRank(*order, options, program, libraryPath);
  explainProgram();
  if (options.dryRun) {
    prepareEnvironment(-1);
    return printPlan();
  }
  if (textMode() == "auto" && options.mode != "none")
    placeText(program.path, CodePages::large);
  if (!isReportWanted() && !options.hpcTags) {
    prepareEnvironment(-1);
    applySettings(settings, options.children);
    return become();
  }
  for (const std::string *file :
       {&options.reportFile, &options.jsonFile, &options.profileFile,
        &options.dataFile, &options.htmlFile})
    if (!file->empty())
      warnIfNotWritable(*file);
  Outcome outcome;
  {
    TagSwitch tags(options.hpcTags);
    if (tags.failed())
      return exitOwnError;
    outcome = runAndReport();
  }
  if (outcome.own)
    return *outcome.own;
  errs().flush();
  endLike(outcome.waitStatus);
}

/// Why no program can load \p library, which should be beside the program \p
/// self; empty if one can.
static std::string findLibraryProblem(const std::string &library,
                                      StringRef self) {
  if (library.empty()) {
    SmallString<256> folder = sys::path::parent_path(self);
    sys::path::append(folder, MPG_LIBRARY_FOLDER);
    sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    return "libmpgrt.so.1 is not in " + printable(folder) +
           ": the installation is not whole; install mpgtools again (the "
           "package libmpgrt1)";
  }
  if (!canBePreloaded(library))
    return printable(library) +
           ": the loader cannot preload from a folder whose name has a colon "
           "or a semicolon; install mpgtools elsewhere";
  if (isMountedNoexec(library))
    return printable(library) +
           ": no program can load it, because its file system is mounted "
           "without the right to execute (noexec); install mpgtools on "
           "another one";
  return "";
}

/// One bad node does not end a parallel job: its ranks run without the library.
static bool runsWithoutLibrary(const RunOptions &options) {
  return hasOtherRanks() && !options.isComparing() && !readRankOrder();
}

static int runAsAsked(int argc, char **argv) {
  int status = 0;
  std::optional<RunOptions> options = parseOptions(argc, argv, status);
  if (!options)
    return status;
  if (options->merge)
    return runMerge(*options);
  std::string self = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&runAsAsked));
  if (self.empty()) // a sandbox may forbid readlink
    self = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
  std::string library = findLibrary(self, MPG_LIBRARY_FOLDER, "libmpgrt.so.1");
  if (std::string why = findLibraryProblem(library, self); !why.empty()) {
    if (!runsWithoutLibrary(*options)) {
      error() << why << "\n";
      return exitOwnError;
    }
    if (speaksForNode())
      note() << "the ranks on " << printable(hostName())
             << " run without libmpg: " << why << "\n";
    library.clear();
  }
  return Runner(std::move(*options), std::move(library)).run();
}

int main(int argc, char **argv) {
  int status = runAsAsked(argc, argv);
  errs().clear_error(); // else LLVM ends with 1 where no message can be written
  return status;
}
