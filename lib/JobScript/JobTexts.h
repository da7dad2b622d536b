// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands within the words of commands: "$(command)", "<(command)", eval TEXT,
// trap TEXT, bash -c TEXT, bash FILE. And the programs of a command, since that
// of "srun bash -c TEXT" is in such a text.

#pragma once

#include "JobScript/JobState.h"
#include "JobScript/Launchers.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <map>

namespace mpg {

// ShellSource.cpp: the commands of a script as tokens, together with those of
// texts that the reader comes across in it: "$(command)", "bash -c TEXT".
// Tokens of a text are appended to those of the script, so that a function of
// one can be called in the other.

/// Where in the tokens: [first, end).
struct ShellRange {
  size_t first, end;
  size_t size() const { return end - first; }
};

struct ShellFunction {
  ShellRange body;
  bool called = false;
  bool active = false; ///< it is being read
};

class ShellSource {
public:
  /// Adds texts of at most \p textBytes.
  ShellSource(ShellTokens read, ShellBlocks blocks, size_t textBytes)
      : tokens(std::move(read.tokens)), roles(std::move(blocks.roles)),
        next(std::move(blocks.next)), hidden(std::move(read.hidden)),
        budget(textBytes) {
    roles.resize(tokens.size());
    next.resize(tokens.size(), tokens.size());
  }

  size_t size() const { return tokens.size(); }
  const ShellToken &token(size_t at) const { return tokens[at]; }
  ShellRole role(size_t at) const { return roles[at]; }
  bool isKind(size_t at, size_t end, ShellTokenKind kind) const {
    return at < end && tokens[at].kind == kind;
  }
  bool isWord(size_t at, size_t end) const {
    return isKind(at, end, ShellTokenKind::word);
  }
  /// The next reserved word of the command; \p end if it has none before.
  size_t nextPart(size_t at, size_t end) const {
    return std::min(next[at], end);
  }
  /// The last reserved word of the command that begins at \p at.
  size_t endOfCompound(size_t at, size_t end) const;
  /// Redirections and here-documents of the tokens [first, last].
  std::vector<ShellHidden> hiddenAt(size_t first, size_t last) const;
  /// The last here-document of the command in \p range.
  std::optional<ShellHidden> findDocument(ShellRange range) const;

  /// Appends the tokens of \p text, which stays where it is. Absent if it is
  /// not a list of commands, or if the script has too many.
  std::optional<ShellRange> addText(llvm::StringRef text, unsigned line);
  /// A text that stays where it is.
  llvm::StringRef keep(std::string text);
  /// Whether a text of \p bytes may still be added.
  bool hasRoom(size_t bytes) const { return bytes <= budget; }
  /// \p text of `..` or of a here-document without the \ in front of ` $ and
  /// \. Absent if the script has too many of them.
  std::optional<llvm::StringRef> withoutQuotes(llvm::StringRef text);

  /// Those that the script has defined so far.
  llvm::StringMap<ShellFunction> functions;
  /// Text of a file: its lines are not the script's.
  const char *fileText = nullptr;

private:
  bool spend(size_t bytes);

  std::vector<ShellToken> tokens;
  std::vector<ShellRole> roles;
  std::vector<size_t> next;
  std::vector<ShellHidden> hidden;
  std::deque<std::string> texts; ///< that tokens point into
  std::map<std::pair<const char *, size_t>, ShellRange> added;
  size_t budget; ///< bytes of texts that are still read
};

/// Names of variables, and of JobState's own entries, that commands in \p range
/// may assign to: rather too many of them.
llvm::StringSet<> findAssigned(const ShellSource &source, ShellRange range);

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
