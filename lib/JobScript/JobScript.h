// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job script as data: the request to the batch system, the variables that are
// set, the programs that are started and how. The script is read, never run.
// Facts that only a run could show are named: the value of a variable that is
// the output of a command, for example.

#pragma once

#include "Audit/Launch.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <vector>

namespace mpg {

/// A word of a command, expanded as far as the script alone determines it.
struct JobWord {
  std::string text; ///< quotes removed, known variables replaced
  /// The unknown parts, which the text has as they were written: "$NP",
  /// "$(nproc)"; "" if all is known.
  std::string unknown;
  bool known() const { return unknown.empty(); }

  friend bool operator==(const JobWord &a, const JobWord &b) {
    return a.text == b.text && a.unknown == b.unknown;
  }
};

enum class Scheduler : uint8_t { none, pjm, slurm, pbs, gridEngine };

/// The prefix of a directive ("#PJM"), and the usual name of the system.
struct SchedulerWords {
  llvm::StringRef mark, name;
};
SchedulerWords getWords(Scheduler scheduler);

/// "#PJM -L node=2" is {pjm, "-L", "node=2"}; "#SBATCH --nodes 2" is
/// {slurm, "--nodes", "2"}. One directive with several options is several.
struct JobDirective {
  Scheduler scheduler;
  std::string option, value;
  unsigned line;
};

/// A variable that the script sets or unsets.
struct JobSetting {
  std::string name;
  JobWord value;
  unsigned line;
  /// "export", "env", "command" (A=b prog), "mpiexec -x", "#PJM -x", "setenv",
  /// "unset"; "assignment": of the shell alone, no program sees it; "--env": of
  /// mpgaudit, in line 0.
  std::string how;
  /// May not happen: inside if, case, a loop or a function that is not called,
  /// or after && or ||.
  bool conditional = false;
};

/// Any simple command, with its assignments: "lpgparm -s 4MB", "module load".
struct JobCommand {
  std::vector<JobWord> words;
  unsigned line;
  bool conditional = false;
};

/// A program that the script starts, by itself or with a launcher.
struct JobLaunch {
  JobWord program;
  std::vector<JobWord> arguments; ///< of the program
  /// The launchers in front of it, outermost first: mpiexec, numactl, valgrind;
  /// each with its options.
  std::vector<JobCommand> launchers;
  /// The launcher that takes away what the script exports: "ssh",
  /// "srun --export"; "": none does.
  std::string withheldBy;
  /// The text in which its command is written, where that is not the script:
  /// "steps.sh", "the here-document".
  std::string writtenIn;
  size_t outerLaunchers = 0; ///< how many of the launchers precede that text
  unsigned line;
  bool conditional = false;
  /// Of "singularity exec IMAGE", else the script's: its libraries and folders
  /// are the image's.
  JobWord image;
  /// The current folder, by the script's cd; "": where the job starts.
  JobWord folder;
  /// The entries of LD_LIBRARY_PATH, if it is not known as a whole.
  std::vector<JobWord> libraryFolders;
  /// The line in which the script makes or replaces the program's file: the
  /// file that is there now is not the one that will run. 0: it does not.
  unsigned madeLine = 0;
  size_t commandsBefore = 0; ///< of JobScript::commands
  /// It is an operand of a command that is not known to start it.
  bool isOperand = false;
  /// JobScript::notUnderstood has a place for it.
  bool notUnderstood = false;
  /// Of a manifest: in JobScript::containers.
  std::optional<size_t> container;
  /// Its file is in the container's image: a local file of this name is
  /// another one.
  bool isInImage = false;
  /// The variables at this point of the script, exported ones and its own;
  /// threads from OMP_NUM_THREADS, ranks per node from the directives and the
  /// launcher's options, the stack from ulimit -s.
  Launch launch;
};

/// A part that could not be read, and how the reader continued.
struct JobProblem {
  unsigned line;
  std::string text; ///< "quote ' is not closed"
};

/// How the text ends for directives behind a command.
constexpr llvm::StringLiteral lateDirective =
    " no effect: the batch system reads them up to the first command";

struct JobAmount {
  uint64_t bytes;
  unsigned line;
};

/// A container of a Kubernetes manifest.
struct JobContainer {
  std::string name;
  unsigned line = 0;
  std::optional<JobAmount> poolLimit, poolRequest; ///< hugepages-2Mi
  /// The pod as a whole asks for pages of the pool, or the container for pages
  /// of another size.
  bool asksOtherwise = false;
  bool hasMemoryOrCpu = false; ///< as a limit or a request
  /// The line of a volume in the pool that it mounts although no container of
  /// the pod asks for pages; 0: none.
  unsigned volumeLine = 0;
};

struct JobScript {
  std::string path;
  Scheduler scheduler = Scheduler::none;
  std::vector<JobDirective> directives;
  std::vector<JobSetting> settings; ///< in the order of lines
  std::vector<JobCommand> commands; ///< in the order of lines, launches as well
  std::vector<JobLaunch> launches;
  std::vector<std::string> modules; ///< of "module load"
  std::vector<JobProblem> problems;
  /// Commands that start programs in a way that is not followed; these programs
  /// are not audited.
  std::vector<JobProblem> notUnderstood;
  /// Commands without a slash and without a launcher that are not common tools:
  /// programs of the job, or tools of the site. Not the script's functions.
  std::vector<JobProblem> bareNames;
  /// The first text that the shell reads and this reader does not: "source
  /// FILE", "eval $(command)".
  std::vector<JobProblem> unread;
  std::vector<JobContainer> containers; ///< of a manifest
  // The request of the directives.
  std::optional<unsigned> nodes, ranks, ranksPerNode;
  std::optional<uint64_t> nodeMemoryBytes; ///< of one node
  std::optional<unsigned> cpusPerTask;
  std::string image; ///< in which the whole script runs
};

/// Fills in madeLine of all launches: make, cmake --build, "cc -o app", cp.
void findMadePrograms(JobScript &script);

/// The file that a word names.
enum class OperandKind : uint8_t { absent, program, other };

/// Says what the program of a start is. A program is one that the user may have
/// built: an ELF file outside the folders of the system.
using ProgramProbe = std::function<OperandKind(const JobLaunch &)>;
/// The text of the file that is the program of a start; none: it is not here,
/// or no text.
using TextProbe = std::function<std::optional<std::string>(const JobLaunch &)>;

/// Reads \p text. This never fails: JobScript::problems has the parts that
/// could not be read.
JobScript readJobScript(llvm::StringRef text, const std::string &path,
                        ProgramProbe probe = nullptr,
                        TextProbe readFile = nullptr);

/// The same for a manifest of Kubernetes. The error's text is the reason alone.
llvm::Expected<JobScript> readManifestJob(llvm::StringRef text,
                                          const std::string &path,
                                          const ProgramProbe &probe = nullptr,
                                          const TextProbe &readFile = nullptr);

/// The same for a file. The error's text is the reason alone.
llvm::Expected<JobScript> readJobScriptFile(const std::string &path);

/// Where the program of \p launch is, with names without a slash looked up in
/// the PATH of its environment, or of this process; "" if it is not found.
/// Relative paths are relative to \p folder, the one the job starts in.
std::string findLaunched(const JobLaunch &launch, const std::string &folder);

/// "$EXE", "./$1": only the job knows what it starts, where "$DIR/app" has a
/// name.
bool hasUnknownName(const JobLaunch &launch);

/// "./run.sh": a file of this name is a script, which starts other programs.
bool hasScriptName(const JobLaunch &launch);

/// Its libraryFolders as far as they are known, with colons between them.
std::string knownLibraryFolders(const JobLaunch &launch,
                                const std::string &folder);

} // namespace mpg
