// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs that a command starts, with the environment they get, and what
// is noted of commands whose programs are not known.

#ifndef MPG_JOBSCRIPT_JOBLAUNCHES_H
#define MPG_JOBSCRIPT_JOBLAUNCHES_H

#include "JobScript/JobState.h"
#include "JobScript/Launchers.h"

namespace mpg {

/// Where a command is written: in the script, or in a text for a shell.
struct TextPlace {
  /// The words in front of that text.
  std::vector<JobWord> words;
  std::string writtenIn; ///< see JobLaunch
  size_t outerWords = 0; ///< of `words`, those outside of `writtenIn`
  ShellVariables::Mark start = 0;
};

class JobLaunches {
public:
  JobLaunches(const JobState &state, JobRecord &record, ProgramProbe probe)
      : state(state), record(record), probe(std::move(probe)) {}

  /// Takes \p parts apart.
  void addLaunch(const ShellCommand &command, LaunchParts &parts);
  /// Operands of a command that may start them: a program of the user among
  /// them is taken for one that may run.
  void addOperands(const ShellCommand &command, const LaunchParts &parts);
  void noteBareName(const ShellCommand &command, const LaunchParts &parts);
  /// The submitted script is another job, and is audited as such.
  void noteSubmitted(const ShellCommand &command);
  /// Notes a program in \p text, which \p reader reads and this reader cannot
  /// follow: "system('./app')". False: it names none.
  bool noteProgramIn(llvm::StringRef text, unsigned line,
                     llvm::StringRef reader);
  /// Whether \p word is a file's name that programs have, or a program here.
  bool namesProgram(const JobWord &word) const;

  TextPlace place; ///< of the commands that are being read

private:
  bool copyEnvironment(const ShellCommand &command, JobLaunch &launch);
  bool isSetInText(llvm::StringRef name) const;
  void keepOnly(Environment &environment, llvm::StringRef list,
                bool isOutside) const;
  void changeEnvironment(const LaunchParts &parts, JobLaunch &launch);
  void noteInterpreter(const ShellCommand &command, const JobLaunch &launch);
  std::string findProgramIn(llvm::StringRef text) const;
  OperandKind findKind(JobLaunch &start) const;

  const JobState &state;
  JobRecord &record;
  ProgramProbe probe;
  bool isFull = false; ///< no more launches are recorded
};

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBLAUNCHES_H
