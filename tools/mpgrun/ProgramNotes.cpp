// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mpgrun's notes about a program before it starts it, or in place of that: that
// the command only starts another program, obstacles to large pages, and why a
// file cannot be run. See mpgrun.h.

#include "Elf/Image.h"
#include "JobScript/LauncherTable.h"
#include "Node/NodeMachine.h"
#include "Options.h"
#include "Process/RunReport.h"
#include "Support/Format.h"
#include "mpgrun.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <linux/mempolicy.h>
#include <string>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace mpg;

static StringRef getName(const std::vector<std::string> &command) {
  return sys::path::filename(command[0]);
}

// Programs that only start another one. mpgrun in front of them is an easy
// mistake: the large pages would be theirs, and the program that is meant would
// run as if mpgrun were not there. Known by their names; that is enough for a
// hint.

/// The name of the program that \p command runs, if that is one which starts
/// another program; else empty.
static std::string startsAnother(const std::vector<std::string> &command) {
  // Without arguments they show something of their own. Shells are not among
  // them: what they run is not known.
  if (command.size() < 2 || !findLauncher(getName(command)))
    return {};
  return getName(command).str();
}

/// Whether \p command is valgrind with helgrind, which replaces malloc and the
/// functions for threads in a way that libmpg does not go with.
static bool asksForHelgrind(const std::vector<std::string> &command) {
  if (getName(command) != "valgrind")
    return false;
  for (const std::string &argument : ArrayRef(command).drop_front()) {
    if (argument.empty() || argument[0] != '-')
      return false; // the program that valgrind runs, and its arguments
    if (argument == "--tool=helgrind")
      return true;
  }
  return false;
}

Obstacle mpg::findObstacle(const RunOptions &options, const Program &program) {
  std::string name = printable(program.path);
  std::string wrapper = startsAnother(options.command);
  if (program.keepsDefaults())
    return {name + " runs with the rights of another user or group: libmpg, "
                   "which is linked into it, works there in mode auto; no "
                   "setting changes that, and it tells mpgrun nothing",
            true};
  if (program.isPrivileged)
    return {name + " runs with the rights of another user or group: the loader "
                   "ignores preloaded libraries, nothing will be on large "
                   "pages",
            true};
  if (!program.stranger.empty())
    return {name + " " + program.stranger + ": it runs without libmpg", true};
  if (program.kind == ProgramKind::staticProgram && !program.hasRuntime)
    return {name +
                " is statically linked: no library can be loaded into it, "
                "nothing will be on large pages; " +
                (program.isGo
                     ? "build it with CGO_ENABLED=1 go build "
                       "-ldflags=-linkmode=external, and set MPG_MMAP=thp"
                     : "link it with -u mpg_start -lmpgrt"),
            true};
  if (!wrapper.empty() && !options.children)
    return {printable(wrapper) +
                " starts another program, which gets no large pages; put "
                "mpgrun in front of that program, or use --children",
            true};
  if (program.kind == ProgramKind::script && !options.children)
    return {name + " is a script: large pages are for its interpreter " +
                printable(program.interpreter) +
                "; with --children also for the programs that it starts",
            false};
  return {};
}

/// Without memory tagging the setting does nothing.
static bool mayTagMemory() {
#if defined(__aarch64__) && defined(HWCAP2_MTE)
  return getauxval(AT_HWCAP2) & HWCAP2_MTE;
#else
  return true;
#endif
}

std::string mpg::findTagConflict(const Program &program) {
  const char *tunables = getenv("GLIBC_TUNABLES");
  if (!tunables || !tagsHeap(tunables) || !mayTagMemory())
    return "";
  std::optional<HintReport> report = readHintReport(program.path);
  if (!report || !report->notes.hints || !report->notes.hints->taggedAccesses)
    return "";
  return printable(program.path) + " has " +
         std::to_string(report->notes.hints->taggedAccesses) +
         " tagged accesses, and GLIBC_TUNABLES lets the C library's malloc tag "
         "its memory as well (glibc.mem.tagging): on a processor with memory "
         "tagging (MTE) that ends the program by SIGSEGV; take it out";
}

/// Why \p path leads to no file.
static std::string whyNoFile(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0)
    return "no such file";
  return stat(path.c_str(), &status) != 0 && errno == ELOOP
             ? "its symbolic links lead in a circle"
             : "a symbolic link to a file that is not there";
}

static int refuseMissing(const RunOptions &options, const std::string &name,
                         const Program &program) {
  if (program.kind == ProgramKind::script)
    error() << name << ": its interpreter " << printable(program.interpreter)
            << " is not there\n";
  else if (program.kind != ProgramKind::missing)
    error() << name << ": the loader that it asks for is not there\n";
  else
    error() << name << ": "
            << (StringRef(name).contains('/') ? whyNoFile(options.command[0])
                                              : "not found in PATH")
            << "\n";
  return exitNotFound;
}

int mpg::refuseProgram(const RunOptions &options, const Program &program,
                       int code) {
  std::string name = printable(options.command[0]);
  if (name.empty())
    name = "''";
  if (program.kind == ProgramKind::missing || code == ENOENT)
    return refuseMissing(options, name, program);
  if (program.kind == ProgramKind::directory)
    error() << name << ": is a directory\n";
  else if (program.kind == ProgramKind::otherMachine)
    error() << name << ": is a program for " << program.machine
            << ", this machine is " << hostMachineName() << "\n";
  else if (code == ENOEXEC)
    error() << name
            << ": is not a program; a script has to begin with #! and its "
               "interpreter\n";
  else if (code == EACCES && isMountedNoexec(program.path))
    error() << name
            << ": its file system is mounted without the right to execute "
               "(noexec); copy it to another one\n";
  else
    error() << name << ": " << strerror(code) << "\n";
  return exitNotExecutable;
}

std::string mpg::findMoveObstacle() {
  int policy = MPOL_DEFAULT;
  bool hasPolicy =
      syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) == 0 &&
      policy != MPOL_DEFAULT;
  return whyNothingMoves(readNumaFacts(SysTree("/")), hasPolicy);
}

bool mpg::canBeTried(const RunOptions &options, const Program &program,
                     int &status) {
  if (program.kind == ProgramKind::missing)
    status = refuseProgram(options, program, ENOENT);
  else if (program.kind == ProgramKind::directory ||
           program.kind == ProgramKind::notExecutable)
    status = refuseProgram(options, program, EACCES);
  else if (options.mode != "none" && asksForHelgrind(options.command)) {
    error() << "helgrind does not work with libmpg: it replaces malloc as "
               "libmpg does, and without limits on data and stack it may use "
               "up the memory of the node; run valgrind without mpgrun, or "
               "with --mode=none\n";
    status = exitOwnError;
  } else
    return true;
  return false;
}
