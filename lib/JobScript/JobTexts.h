// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands within the words of commands: "$(command)", "<(command)", eval TEXT,
// trap TEXT, bash -c TEXT, bash FILE. And the programs of a command, since that
// of "srun bash -c TEXT" is in such a text.

#ifndef MPG_JOBSCRIPT_JOBTEXTS_H
#define MPG_JOBSCRIPT_JOBTEXTS_H

#include "JobScript/JobState.h"
#include "JobScript/Launchers.h"
#include "JobScript/ShellSource.h"

namespace mpg {

// JobLaunches.cpp: the programs that a command starts, with the environment
// they get, and what is noted of commands whose programs are not known.

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

class JobReader;

class JobTexts {
public:
  /// All but \p readFile outlive this object.
  JobTexts(JobReader &reader, ShellSource &source, JobState &state,
           JobRecord &record, JobLaunches &launches, TextProbe readFile)
      : reader(reader), source(source), state(state), record(record),
        launches(launches), readFile(std::move(readFile)) {}

  /// Reads the commands in the words of \p range and in its redirections, which
  /// run before the command around them.
  void readAround(ShellRange range);
  void readSubstitutions(llvm::StringRef raw, unsigned line,
                         bool inQuotes = false);
  /// eval TEXT: known text is read as if it were written there.
  void runEval(const ShellCommand &command);
  /// "trap TEXT EXIT": readTraps() reads it at the end of the script, when its
  /// functions are known.
  void runTrap(const ShellCommand &command);
  void readTraps();
  /// "source FILE": what it sets is not known.
  void noteUnread(const ShellCommand &command);
  /// Records the programs that \p command starts, and reads the texts and files
  /// that its shells read. Returns whether the script ends with it: "exec ./a".
  bool startPrograms(const ShellCommand &command);

private:
  bool readBehind(llvm::ArrayRef<JobWord> words, llvm::StringRef text,
                  unsigned line, llvm::StringRef name);
  void readShellTexts(const LaunchParts &parts, llvm::ArrayRef<JobWord> words,
                      unsigned line);
  bool readDocument(const ShellCommand &command, const LaunchParts &parts,
                    llvm::ArrayRef<JobWord> words);
  bool readShellFile(const ShellCommand &command, const LaunchParts &parts,
                     llvm::ArrayRef<JobWord> words);

  JobReader &reader;
  ShellSource &source;
  JobState &state;
  JobRecord &record;
  JobLaunches &launches;
  TextProbe readFile;
  struct Trap {
    std::string text;
    unsigned line;
    bool atExit;
  };
  std::vector<Trap> traps;
  unsigned substitutions = 0; ///< of what surrounds the current command
};

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBTEXTS_H
