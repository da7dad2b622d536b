// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun: starts one program with libmpg preloaded. Without a report it only
// prepares the environment and becomes the program; with one it stays behind,
// looks at the program's memory in its last moment, and then ends in the same
// way. What does not work with the program at hand (a script, a static or
// setuid program) is said in one line before it starts.

#include "ExitStatus.h"
#include "Options.h"
#include "Run/HpcTags.h"
#include "Run/Program.h"
#include "Run/RunReport.h"
#include "Run/Supervisor.h"
#include "Support/Format.h"
#include "Wrappers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

extern char **environ;

namespace {

/// How mpgrun ends: with a status of its own, or as the program did.
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
    return options.report || options.verify || !options.jsonFile.empty();
  }
  bool speaks() const;
  void explainProgram() const;
  int refuse(int error) const;
  void set(StringRef name, const std::string &value);
  void prepareEnvironment(int stateFd);
  int printPlan() const;
  int become();
  Outcome runAndReport();
  std::optional<int> finish(const RunResult &result, RunReport &report);
  bool writeJson(const RunReport &report, pid_t pid) const;
  std::string expandFileName(pid_t pid) const;

  RunOptions options;
  std::string libraryPath;
  Program program;
  std::vector<std::pair<std::string, std::string>> changes; ///< name, value
};

/// Switches the tag override for the time of its life.
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

static raw_ostream &error() { return errs() << "mpgrun: error: "; }
static raw_ostream &note() { return errs() << "mpgrun: note: "; }

/// The first of \p names that the environment has; null if none.
static const char *firstOf(ArrayRef<const char *> names) {
  for (const char *name : names)
    if (const char *value = getenv(name))
      return value;
  return nullptr;
}

/// The rank of this process on its node, where a launcher says it.
static const char *localRank() {
  static const char *const names[] = {
#define MPG_LOCAL_RANK(name) name,
#include "mpg/ranks.def"
  };
  return firstOf(names);
}

static std::string worldRank() {
  static const char *const names[] = {
#define MPG_WORLD_RANK(name) name,
#include "mpg/ranks.def"
  };
  const char *rank = firstOf(names);
  return rank ? rank : "0";
}

/// Of the ranks on a node the first one speaks for all.
bool Runner::speaks() const {
  const char *rank = localRank();
  return !rank || StringRef(rank) == "0";
}

//===----------------------------------------------------------------------===//
// HPC tags
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Before the run
//===----------------------------------------------------------------------===//

/// What keeps a preloaded library from working. The program runs anyway.
void Runner::explainProgram() const {
  std::string name = printable(program.path);
  if (!speaks() || options.mode == "none")
    return;
  std::string wrapper = startsAnother(options.command);
  if (program.isPrivileged)
    note() << name
           << " runs with the rights of another user or group: the loader "
              "ignores preloaded libraries, nothing will be on large pages\n";
  else if (program.kind == ProgramKind::staticProgram && !program.hasRuntime)
    note() << name
           << " is statically linked: no library can be loaded into it, "
              "nothing will be on large pages; link it with -u mpg_start "
              "-lmpg\n";
  else if (!wrapper.empty() && !options.children)
    note() << printable(wrapper)
           << " starts another program, which gets no large pages; put mpgrun "
              "in front of that program, or use --children\n";
  else if (program.kind == ProgramKind::script && !options.children)
    note() << name << " is a script: large pages are for its interpreter "
           << printable(program.interpreter)
           << "; with --children also for the programs that it starts\n";
}

/// Why the program cannot be run, and the exit status for that.
int Runner::refuse(int code) const {
  std::string name = printable(options.command[0]);
  if (name.empty())
    name = "''";
  if (program.kind == ProgramKind::missing || code == ENOENT) {
    if (program.kind == ProgramKind::script)
      error() << name << ": its interpreter " << printable(program.interpreter)
              << " is not there\n";
    else if (program.kind != ProgramKind::missing)
      error() << name << ": the loader that it asks for is not there\n";
    else
      error() << name << ": "
              << (StringRef(name).contains('/') ? "no such file"
                                                : "not found in PATH")
              << "\n";
    return exitNotFound;
  }
  if (program.kind == ProgramKind::directory)
    error() << name << ": is a directory\n";
  else if (program.kind == ProgramKind::otherMachine)
    error() << name << ": is a program for " << program.machine
            << ", this machine is " << hostMachineName() << "\n";
  else if (code == ENOEXEC)
    error() << name
            << ": is no program; a script has to begin with #! and its "
               "interpreter\n";
  else
    error() << name << ": " << strerror(code) << "\n";
  return exitNotExecutable;
}

void Runner::set(StringRef name, const std::string &value) {
  changes.emplace_back(name.str(), value);
}

void Runner::prepareEnvironment(int stateFd) {
  std::string preload = libraryPath;
  if (const char *old = getenv("LD_PRELOAD"); old && *old)
    preload += std::string(":") + old;
  set("LD_PRELOAD", preload);
  if (!options.children)
    set("MPG_TARGET", program.identity);
  if (options.modeGiven)
    set("MPG_MODE", options.mode);
  if (!options.policy.empty())
    set("XOS_MMM_L_PAGING_POLICY", options.policy);
  if (options.printEnv)
    set("XOS_MMM_L_PRINT_ENV", "on");
  if (stateFd >= 0)
    set("MPG_STATE_FD", std::to_string(stateFd));
  if (program.wantsAsanFirst) {
    // In front, so that the user's own word on it counts.
    std::string asan = "verify_asan_link_order=0";
    if (const char *old = getenv("ASAN_OPTIONS"); old && *old)
      asan += std::string(":") + old;
    set("ASAN_OPTIONS", asan);
  }
}

int Runner::printPlan() const {
  for (const auto &[name, value] : changes)
    outs() << name << "=" << printable(value) << "\n";
  outs() << printable(program.path);
  for (const std::string &argument : ArrayRef(options.command).drop_front())
    outs() << " " << printable(argument);
  outs() << "\n";
  return 0;
}

static void
applyChanges(const std::vector<std::pair<std::string, std::string>> &changes,
             bool children) {
  if (children)
    unsetenv("MPG_TARGET");
  unsetenv("MPG_STATE_FD");
  for (const auto &[name, value] : changes)
    setenv(name.c_str(), value.c_str(), /*overwrite=*/1);
}

int Runner::become() {
  std::vector<char *> arguments;
  for (std::string &argument : options.command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  outs().flush();
  execv(program.path.c_str(), arguments.data());
  return refuse(errno);
}

//===----------------------------------------------------------------------===//
// With a report
//===----------------------------------------------------------------------===//

/// A file for libmpg to write to, marked as ours.
static int makeStateFile() {
  // Not close-on-exec: the program inherits it.
  int fd = memfd_create(MPG_STATE_NAME, 0);
  if (fd < 0)
    return -1;
  mpg_state empty = {};
  empty.magic = MPG_STATE_MAGIC;
  empty.structBytes = sizeof(empty);
  if (pwrite(fd, &empty, sizeof(empty), 0) == ssize_t(sizeof(empty)))
    return fd;
  close(fd);
  return -1;
}

static std::string readStateFile(int fd) {
  std::string bytes(sizeof(mpg_state), '\0');
  ssize_t count = fd < 0 ? -1 : pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(count < 0 ? 0 : size_t(count));
  return bytes;
}

std::string Runner::expandFileName(pid_t pid) const {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  std::string name;
  StringRef pattern = options.jsonFile;
  for (size_t at = 0; at < pattern.size(); ++at) {
    char next = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    if (pattern[at] != '%' || !StringRef("hrp%").contains(next)) {
      name += pattern[at];
      continue;
    }
    ++at;
    name += next == 'h'   ? std::string(host)
            : next == 'r' ? worldRank()
            : next == 'p' ? std::to_string(pid)
                          : "%";
  }
  return name;
}

bool Runner::writeJson(const RunReport &report, pid_t pid) const {
  std::string name = expandFileName(pid);
  std::error_code code;
  raw_fd_ostream out(name, code);
  if (!code) {
    writeRunJson(out, report);
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    error() << printable(name) << ": " << code.message() << "\n";
  return !code;
}

/// Prints what was asked for. A status of our own only where the program's says
/// that all was well.
std::optional<int> Runner::finish(const RunResult &result, RunReport &report) {
  report.waitStatus = result.waitStatus;
  bool written = true;
  if (!options.jsonFile.empty())
    written = writeJson(report, result.pid);
  if (options.report && speaks())
    writeRunText(errs(), report);
  bool endedWell = result.waitStatus == 0;
  if (options.verify) {
    std::vector<std::string> missing = findMissing(report);
    for (const std::string &reason : missing)
      error() << "--verify: " << reason << "\n";
    if (!missing.empty() && endedWell)
      return exitNotVerified;
  }
  if (endedWell && !written)
    return exitOwnError;
  return std::nullopt;
}

Outcome Runner::runAndReport() {
  int stateFd = makeStateFile();
  prepareEnvironment(stateFd);
  applyChanges(changes, options.children);
  std::vector<std::string> environment;
  for (char **entry = environ; *entry; ++entry)
    environment.push_back(*entry);
  RunReport report;
  report.program = options.command[0];
  const char *asked = getenv("MPG_MODE"); // --mode has replaced it
  report.mode = asked && isMode(asked) ? asked : options.mode;
  report.hints = readHintReport(program.path);
  // A traced process would get no rights of others: see ptrace(2).
  bool trace =
      isReportWanted() && !program.isPrivileged && !program.tracesItself;
  RunResult result = runSupervised(
      program.path, options.command, environment, trace, [&](pid_t pid) {
        SmallString<256> image;
        std::string link = "/proc/" + std::to_string(pid) + "/exe";
        std::vector<MappedArea> areas = readSmaps(pid);
        if (areas.empty() || sys::fs::real_path(link, image))
          return;
        report.measured = true;
        for (const MappedArea &area : areas)
          report.peakHugetlbBytes += area.hugetlb ? area.bytes() : 0;
        // What libmpg has told until now; all of it is taken afterwards.
        std::optional<mpg_state> state = checkedState(readStateFile(stateFd));
        report.regions =
            classifyAreas(areas, locateSegments(image.str().str(), areas),
                          state ? heapOf(*state) : HeapRange());
      });
  if (!result.error.empty()) {
    error() << "cannot start a process: " << result.error << "\n";
    return {exitOwnError};
  }
  if (result.execError)
    return {refuse(result.execError)};
  if (std::optional<mpg_state> state = checkedState(readStateFile(stateFd)))
    addState(report, *state);
  return {finish(result, report), result.waitStatus};
}

int Runner::run() {
  const char *searchPath = getenv("PATH");
  program =
      findProgram(options.command[0],
                  searchPath ? searchPath : "/usr/local/bin:/usr/bin:/bin");
  if (program.kind == ProgramKind::missing)
    return refuse(ENOENT);
  if (program.kind == ProgramKind::directory ||
      program.kind == ProgramKind::notExecutable)
    return refuse(EACCES);
  if (options.mode != "none" && asksForHelgrind(options.command)) {
    error() << "helgrind does not work with libmpg: it replaces malloc as "
               "libmpg does, and without limits on data and stack it may use "
               "up the memory of the node; run valgrind without mpgrun, or "
               "with --mode=none\n";
    return exitOwnError;
  }
  explainProgram();
  if (options.dryRun) {
    prepareEnvironment(-1);
    return printPlan();
  }
  if (!isReportWanted() && !options.hpcTags) {
    prepareEnvironment(-1);
    applyChanges(changes, options.children);
    return become();
  }
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

/// libmpg.so, which lies beside this program's folder, in the build tree and
/// where it is installed.
static std::string findLibrary(const std::string &self) {
  for (const char *folder : {MPG_LIBRARY_FOLDER, "../lib"}) {
    SmallString<256> path = sys::path::parent_path(self);
    sys::path::append(path, folder, "libmpg.so");
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return {};
}

int main(int argc, char **argv) {
  int status = 0;
  std::optional<RunOptions> options = parseOptions(argc, argv, status);
  if (!options)
    return status;
  std::string library = findLibrary(
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&main)));
  if (library.empty()) {
    error() << "libmpg.so is not there; it belongs into " MPG_LIBRARY_FOLDER
               " beside mpgrun's folder\n";
    return exitOwnError;
  }
  if (StringRef(library).find_first_of(": \t") != StringRef::npos) {
    error() << printable(library)
            << ": the loader cannot preload a path with a space or a colon; "
               "install mpgtools elsewhere\n";
    return exitOwnError;
  }
  return Runner(std::move(*options), std::move(library)).run();
}
