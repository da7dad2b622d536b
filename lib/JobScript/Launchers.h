// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that start another program: mpiexec, srun, numactl, valgrind, env,
// time. Which words are theirs, where the program begins, and what they change
// for it.

#pragma once

#include "JobScript/JobScript.h"
#include "llvm/ADT/ArrayRef.h"

namespace mpg {

/// A launcher's change to the environment of its program.
struct LaunchVariable {
  enum Change : uint8_t {
    set,
    exported, ///< the shell's variable of this name goes with it
    unset,
    cleared, ///< all of them are taken away; no name
    bySlurm  ///< as SLURM_EXPORT_ENV says, if it is set; no name
  } change;
  std::string name;
  JobWord value;
  std::string how; ///< "mpiexec -x", "env"
  /// By a launcher in front of the text in which the command is written.
  bool isOutside = false;
};

struct LaunchParts {
  /// The words of each launcher, outermost first.
  std::vector<std::vector<JobWord>> launchers;
  /// Nothing if no word is left for it: "env", "exec > file".
  std::optional<JobWord> program;
  std::vector<JobWord> arguments;
  JobWord image; ///< of a container
  /// Lines for a shell that this starts: of "bash -c LINE", "flock F -c LINE".
  std::vector<JobWord> shellTexts;
  size_t textAt = 0; ///< the words in front of this one precede each line
  /// A command that starts programs here and is not followed; "" without one.
  std::string notUnderstood;
  bool isLaunched = false; ///< a program of the job, not `cp` or `time cd x`
  bool isOperand = false;  ///< see JobLaunch::isOperand
  bool underMpgrun = false;
  bool meansChildren = false; ///< mpgrun --children
  bool hasMpi = false;        ///< one of the launchers starts several processes
  std::vector<LaunchVariable> variables;
  std::optional<unsigned> ranks, ranksPerNode, nodes;
};

/// Takes \p words of one command, assignments in front left out, apart. More
/// than one for "mpiexec -n 1 ./a : -n 4 ./b". A shell reads the words from
/// \p textAt on.
std::vector<LaunchParts> findLaunches(llvm::ArrayRef<JobWord> words,
                                      size_t textAt = 0);

/// Whether \p list, which srun --export takes, keeps all variables: "ALL,A=b".
bool isSlurmAll(llvm::StringRef list);

/// Whether Slurm's option \p name, of srun or of a directive, names an image:
/// of Slurm itself, of Pyxis, and of CSCS's container engine.
bool isSlurmImage(llvm::StringRef name);

/// Whether \p name is a builtin of the shell or one of the tools of every
/// system: not what a job is submitted for.
bool isCommonTool(llvm::StringRef name);

/// Whether \p name reads a program that is not ELF: python3, bash.
bool isInterpreter(llvm::StringRef name);

/// Whether \p name, without folders, is a shell: its input starts programs.
bool isShell(llvm::StringRef name);

/// Tools that keep images and start programs in them; also to fetch and build.
bool isContainerTool(llvm::StringRef name);

/// Tools that run a program in another environment, image or job, which is not
/// followed.
bool isElsewhere(llvm::ArrayRef<JobWord> words);

/// What \p words start, if it is not one of them; "" if it may be.
std::string whatElsewhere(llvm::ArrayRef<JobWord> words);

} // namespace mpg
