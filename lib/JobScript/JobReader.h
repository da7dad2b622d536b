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

#ifndef MPG_JOBSCRIPT_JOBREADER_H
#define MPG_JOBSCRIPT_JOBREADER_H

#include "JobScript/Directives.h"
#include "JobScript/JobBuiltins.h"
#include "JobScript/JobTexts.h"
#include "JobScript/Manifest.h"

namespace mpg {

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

  JobRecord record;
  JobState state;
  ShellVariables &variables; ///< of `state`
  ShellSource source;
  ShellExpander expander;
  JobBuiltins builtins;
  JobLaunches launches;
  JobTexts texts;
  unsigned depth = 0, nestedTexts = 0;
  size_t callBudget = 0; ///< tokens that calls of functions may still read
  bool ended = false;    ///< an exit: what follows in this list is not run
  bool returned = false; ///< from the function that is being read
  bool toldDepth = false, toldCalls = false;
};

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBREADER_H
