// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through a script in the order in which a shell would. Of a command that
// has branches all are read; what they do not agree on is not known afterwards.
// A loop is read once, a function where it is called.
//
// The parts: ShellSource has the tokens, JobState what commands have set,
// JobRecord what is found; JobBuiltins changes the state, JobTexts reads
// commands within words, JobLaunches records programs. This class has the
// blocks, functions and branches around the commands.

#pragma once

#include "JobScript/JobScript.h"
#include "JobScript/JobState.h"
#include "JobScript/JobTexts.h"
#include "JobScript/ShellLexer.h"

namespace mpg {

// JobBuiltins.cpp: commands that change variables and limits: builtins of the
// shell, modules, environments of spack and conda.

class JobBuiltins {
public:
  JobBuiltins(JobState &state, JobRecord &record)
      : state(state), variables(state.variables), record(record) {}

  /// Applies \p command. False: it is none of these commands, so the caller
  /// takes it for the start of a program.
  bool run(const ShellCommand &command);

  /// Of the function that is being read: "local" saves the values here that
  /// come back at its end. Null outside of functions.
  std::vector<SavedVariable> *locals = nullptr;

private:
  void runDeclaration(const ShellCommand &command);
  void declare(const ShellCommand &command, llvm::StringRef attributes,
               size_t i);
  void runUnset(const ShellCommand &command);
  void runSet(const ShellCommand &command);
  void runShift(const ShellCommand &command);
  void runModule(const ShellCommand &command);
  void setHugePagesModule(llvm::StringRef module, unsigned line);
  void unsetHugePagesModule(unsigned line);
  void runUlimit(const ShellCommand &command);
  void runReading(const ShellCommand &command);
  void runCshSetting(const ShellCommand &command);
  void forgetWritten(const ShellCommand &command);
  void setExported(llvm::StringRef name, ShellValue value, unsigned line,
                   llvm::StringRef how);

  JobState &state;
  ShellVariables &variables;
  JobRecord &record;
};

/// Whether the words of \p name are assignments: "export A=b".
bool isDeclaration(llvm::StringRef name);

// Manifest.cpp: the containers of a Kubernetes manifest, as they are written
// there.

struct ManifestText {
  std::string text;
  unsigned line;
};

struct ManifestVariable {
  std::string name;
  std::optional<std::string> value; ///< nothing: valueFrom
  unsigned line;
};

struct ManifestContainer {
  JobContainer facts;
  std::vector<ManifestText> command; ///< and args
  std::vector<ManifestVariable> variables;
  bool hasEnvFrom = false;
  std::string folder, image;
};

/// Whether \p text is meant to be YAML, by its name or its first line.
bool isManifest(llvm::StringRef text, llvm::StringRef path);

/// The containers of all pods, and of the templates of pods, in \p text. The
/// error's text is the reason alone.
llvm::Expected<std::vector<ManifestContainer>>
readManifest(llvm::StringRef text, const std::string &path);

// Directives.cpp: requests of a script to its batch system: "#SBATCH
// --nodes=2".

/// A variable that the batch system sets for the job.
struct DirectiveVariable {
  std::string name, value;
  unsigned line;
  /// "#PJM -x"; "" if it follows from what was asked for: SLURM_NTASKS.
  std::string how;
};

/// Fills the directives and what they ask for into \p script; problems as
/// well. Returns the variables in the order of lines.
std::vector<DirectiveVariable>
readDirectives(llvm::ArrayRef<ShellComment> comments, JobScript &script);

class JobReader {
public:
  /// \p budgetBytes: of expanded and copied text, and of texts within words.
  JobReader(JobScript &script, ShellTokens read, ShellBlocks blocks,
            size_t budgetBytes, ProgramProbe probe, TextProbe readFile)
      : record(script, budgetBytes), state(record), variables(state.variables),
        source(std::move(read), std::move(blocks), budgetBytes),
        expander(variables, budgetBytes), builtins(state, record),
        launches(state, record, std::move(probe)),
        texts(*this, source, state, record, launches, std::move(readFile)) {}

  /// \p login: the shell reads the user's and the system's profile first.
  void run(llvm::ArrayRef<DirectiveVariable> fromDirectives, bool login);
  /// The lines of a csh script, which has other blocks (CshLines.cpp).
  void runCsh(llvm::ArrayRef<DirectiveVariable> fromDirectives);
  /// The command of one container, in place of a script (Containers.cpp).
  void runContainer(const ManifestContainer &container);

  /// Reads \p text, which stays where it is, as commands at this place of the
  /// script. False if it is not read.
  bool readText(llvm::StringRef text, unsigned line);
  /// The same in a subshell, which leaves the variables as they are.
  bool readInOwnShell(llvm::StringRef text, unsigned line);

private:
  void addDirectives(llvm::ArrayRef<DirectiveVariable> fromDirectives);
  void readUncalled();
  void callFunction(ShellFunction &function, const ShellCommand &command);
  void forgetAssigned(ShellRange range);
  void leaveOwnShell(JobState::Place start);

  // Each reads what begins at `at`; those that return a place, up to there.
  void readList(ShellRange range);
  size_t readAndOr(size_t at, size_t end);
  size_t readPipeline(size_t at, size_t end);
  size_t readCommand(size_t at, size_t end);
  void readCompound(size_t at, size_t last, size_t end);
  void readSubshell(size_t at, size_t end);
  void readBranch(ShellBranches &branches, ShellRange range);
  void readIf(size_t at, size_t end);
  void readLoop(size_t at, size_t end);
  std::vector<ShellValue> expandLoopWords(size_t at, size_t end, bool &runs);
  bool countsUp(llvm::StringRef raw, unsigned line);
  bool runsEachRound(ShellRange body, llvm::ArrayRef<ShellValue> values);
  void readCase(size_t at, size_t end);
  size_t readSimple(size_t at, size_t end);
  void readCshLine(ShellRange range);
  void readCshCommand(ShellRange range);
  ShellValue expandReferences(llvm::StringRef text) const;
  void setContainerVariables(const ManifestContainer &container);
  void startContainer(const ManifestContainer &container);

  // One simple command.
  ShellCommand expand(ShellRange range);
  void expandInto(ShellCommand &command, llvm::StringRef raw, bool declares);
  void runCommand(ShellCommand &command);
  bool runFlow(const ShellCommand &command);
  bool runBuiltin(const ShellCommand &command);

  JobRecord record;
  JobState state;
  ShellVariables &variables; ///< of `state`
  ShellSource source;
  ShellExpander expander;
  JobBuiltins builtins;
  JobLaunches launches;
  JobTexts texts;
  unsigned depth = 0, nestedTexts = 0;
  /// Tokens that calls of functions, and texts, may still read.
  size_t callBudget = 4 * source.size() + 10000;
  bool ended = false;    ///< an exit: what follows in this list is not run
  bool returned = false; ///< from the function that is being read
  bool toldDepth = false, toldCalls = false;
};

} // namespace mpg
