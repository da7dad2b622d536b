// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands within the words of commands: "$(command)", "<(command)", eval TEXT,
// trap TEXT, bash -c TEXT, bash FILE. And the programs of a command, since that
// of "srun bash -c TEXT" is in such a text.

#ifndef MPG_JOBSCRIPT_JOBTEXTS_H
#define MPG_JOBSCRIPT_JOBTEXTS_H

#include "JobScript/JobLaunches.h"
#include "JobScript/ShellSource.h"

namespace mpg {

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
