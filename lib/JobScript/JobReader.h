// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes through a script in the order in which a shell would, and collects what
// it sets and starts. Of a command that has branches all are read; what they do
// not agree on is not known afterwards. A loop is read once, a function where
// it is called.

#ifndef MPG_JOBSCRIPT_JOBREADER_H
#define MPG_JOBSCRIPT_JOBREADER_H

#include "JobScript/JobScript.h"
#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include <deque>
#include <map>

namespace mpg {

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

struct LaunchParts;

class JobReader {
public:
  JobReader(JobScript &script, ShellTokens read, ShellBlocks blocks,
            size_t budgetBytes, ProgramProbe probe, TextProbe readFile)
      : script(script), tokens(std::move(read.tokens)),
        hidden(std::move(read.hidden)), roles(std::move(blocks.roles)),
        next(std::move(blocks.next)), expander(variables, budgetBytes),
        probe(std::move(probe)), readFile(std::move(readFile)),
        copyBudget(budgetBytes), textBudget(budgetBytes) {}

  /// \p login: the shell reads the user's and the system's profile first.
  void run(llvm::ArrayRef<DirectiveVariable> fromDirectives, bool login);
  /// The lines of a csh script, which has other blocks.
  void runCsh(llvm::ArrayRef<DirectiveVariable> fromDirectives);

private:
  // Not a variable, but changes with the branches as these do.
  static constexpr llvm::StringLiteral stackLimitName = "ulimit -s";
  static constexpr llvm::StringLiteral exportAllName = "set -a";
  static constexpr llvm::StringLiteral folderName = "cd";
  static constexpr llvm::StringLiteral pushedName = "pushd"; ///< how many
  // Set where any variable may have been changed by what is not read.
  static constexpr llvm::StringLiteral unknownFromName = "module load";

  // Where in the tokens: [first, end).
  struct Range {
    size_t first, end;
  };
  using Saved = std::pair<std::string, std::optional<ShellVariable>>;
  struct Function {
    Range body;
    bool called = false;
    bool active = false; ///< it is being read
  };
  /// One simple command, expanded.
  struct Command {
    unsigned line = 0;
    std::vector<std::pair<std::string, ShellValue>> assignments;
    std::vector<ShellValue> values;
    std::vector<JobWord> words; ///< the same
    /// Words in front whose number is known.
    size_t certainWords = SIZE_MAX;
    std::vector<Saved> saved; ///< what "A=b command" has changed
    /// Its standard input, where that is a here-document.
    std::optional<ShellHidden> document;
    /// "" if it is not known.
    llvm::StringRef name() const {
      bool known = !words.empty() && words[0].known();
      return known ? llvm::StringRef(words[0].text) : llvm::StringRef();
    }
  };

  // JobScript.cpp
  void readCshCommand(Range range);
  void readCshLine(Range range);
  size_t skipCshCondition(size_t at, size_t end) const;

  // JobReader.cpp: the order of things.
  void addDirectives(llvm::ArrayRef<DirectiveVariable> fromDirectives);
  void readList(Range range);
  bool isSetUp(size_t at, size_t end) const;
  size_t readAndOr(size_t at, size_t end);
  size_t readPipeline(size_t at, size_t end);
  void leaveOwnShell(ShellVariables::Mark start, unsigned argumentChanges);
  size_t readCommand(size_t at, size_t end);
  void readCompound(size_t at, size_t last, size_t end);
  size_t readSimple(size_t at, size_t end);
  void readIf(size_t at, size_t end);
  void readLoop(size_t at, size_t end);
  std::vector<ShellValue> expandLoopWords(size_t at, size_t end, bool &runs);
  bool runsEachRound(Range body, llvm::ArrayRef<ShellValue> values);
  bool countsUp(llvm::StringRef raw, unsigned line);
  bool isAlways(size_t at, size_t doWord) const;
  void readCase(size_t at, size_t end);
  void readSubshell(size_t at, size_t end);
  void readBranch(ShellBranches &branches, Range range);
  void readUncalled();
  void callFunction(Function &function, const Command &command);
  size_t endOfCompound(size_t at, size_t end) const;
  size_t nextPart(size_t at, size_t end) const {
    return std::min(next[at], end);
  }
  void forgetAssigned(Range range);
  void collectAssigned(Range range, llvm::StringSet<> &names,
                       llvm::SmallPtrSetImpl<const Function *> &seen) const;
  void collectFromWord(size_t at, bool takesNames,
                       llvm::StringSet<> &names) const;
  bool isPrefixAssignment(size_t at) const;
  Saved save(llvm::StringRef name) const;
  void restore(const std::vector<Saved> &saved);
  bool isKind(size_t at, size_t end, ShellTokenKind kind) const {
    return at < end && tokens[at].kind == kind;
  }

  // JobTexts.cpp: commands within words.
  std::optional<Range> addText(llvm::StringRef text, unsigned line);
  bool readText(llvm::StringRef text, unsigned line);
  bool readInOwnShell(llvm::StringRef text, unsigned line);
  void readSubstitutions(llvm::StringRef raw, unsigned line,
                         bool inQuotes = false);
  void readHidden(size_t first, size_t last);
  std::optional<ShellHidden> findDocument(Range range) const;
  void readTraps();
  void runEval(const Command &command);
  void runTrap(const Command &command);
  bool readBehind(llvm::ArrayRef<JobWord> words, llvm::StringRef text,
                  unsigned line, llvm::StringRef name);
  void readShellTexts(const LaunchParts &parts, llvm::ArrayRef<JobWord> words,
                      unsigned line);
  bool readDocument(const Command &command, const LaunchParts &parts,
                    llvm::ArrayRef<JobWord> words);
  bool readShellFile(const Command &command, const LaunchParts &parts,
                     llvm::ArrayRef<JobWord> words);
  void keepExported(unsigned line);

  // JobCommands.cpp: what one command does.
  Command expand(Range range);
  void expandInto(Command &command, llvm::StringRef raw, bool declares);
  void assign(llvm::StringRef word, const ShellValue &value, unsigned line);
  void runCommand(Command &command);
  bool runBuiltin(const Command &command);
  void runDeclaration(const Command &command);
  void declare(const Command &command, llvm::StringRef attributes, size_t i);
  void runUnset(const Command &command);
  void unset(llvm::StringRef name, unsigned line);
  void runSet(const Command &command);
  static size_t certainFrom(size_t certainWords, size_t first);
  void runShift(const Command &command);
  void runModule(const Command &command);
  void setHugePagesModule(llvm::StringRef module, unsigned line);
  void unsetHugePagesModule(unsigned line);
  void runUlimit(const Command &command);
  void runCd(const Command &command);
  void changeFolder(const Command &command);
  void startIn(llvm::StringRef folder, unsigned line);
  void setPwd(unsigned line);
  std::string pushedFolder(unsigned level) const;
  std::optional<unsigned> pushedFolders() const;
  void runPushd(const Command &command);
  void runPopd(const Command &command);
  void runReadingBuiltin(const Command &command);
  void runExit(const Command &command);
  void forgetWritten(const Command &command);
  void notRead(const Command &command);
  void runEnvironmentTool(const Command &command);
  void forgetEnvironment(const Command &command);
  void forgetEnvironment(unsigned line, std::string what);
  void runCshSetting(const Command &command);
  void setVariable(llvm::StringRef name, ShellValue value, unsigned line,
                   llvm::StringRef how, bool exported);
  void addSetting(llvm::StringRef name, JobWord value, unsigned line,
                  llvm::StringRef how);
  void addCommand(const Command &command);
  void problem(unsigned line, const llvm::Twine &text) {
    script.problems.push_back({line, text.str()});
  }
  static constexpr size_t maxPlaces = 100; ///< a report shows fewer
  void notUnderstood(unsigned line, const llvm::Twine &text) {
    if (script.notUnderstood.size() < maxPlaces)
      script.notUnderstood.push_back({line, text.str()});
  }
  bool isConditional() const { return conditions > 0; }

  // JobLaunches.cpp: programs.
  void noteBareName(const Command &command, const LaunchParts &parts);
  void addLaunches(const Command &command);
  void noteSubmitted(const Command &command);
  bool copyEnvironment(const Command &command, JobLaunch &launch);
  void changeEnvironment(const LaunchParts &parts, JobLaunch &launch);
  void setUnknownFrom(Launch &launch) const;
  std::optional<uint64_t> stackBytes() const;
  void noteInterpreter(const Command &command, const JobLaunch &launch);
  std::string findProgramIn(llvm::StringRef text) const;
  bool noteProgramIn(llvm::StringRef text, unsigned line,
                     llvm::StringRef reader);
  void addLaunch(const Command &command, LaunchParts &parts);
  bool isHelper(const LaunchParts &parts) const;
  void addOperands(const Command &command, const LaunchParts &parts);
  OperandKind findKind(JobLaunch &start) const;
  bool namesProgram(const JobWord &word) const;

  JobScript &script;
  // Texts within words are appended when they are read.
  std::vector<ShellToken> tokens;
  std::vector<ShellHidden> hidden;
  std::vector<ShellRole> roles;
  std::vector<size_t> next;
  std::deque<std::string> texts; ///< that tokens point into
  std::map<std::pair<const char *, size_t>, Range> readTexts;
  ShellVariables variables;
  ShellExpander expander;
  ProgramProbe probe;
  TextProbe readFile;
  const char *fileText = nullptr; ///< of a file: its lines are not the script's
  size_t copyBudget; ///< bytes that environments of launches may take
  size_t textBudget; ///< bytes of texts within words that are still read
  struct Trap {
    std::string text;
    unsigned line;
    bool atExit;
  };
  std::vector<Trap> traps;
  /// The words in front of the text for a shell that is being read.
  std::vector<JobWord> prefix;
  std::string writtenIn; ///< see JobLaunch
  size_t outerWords = 0; ///< of the prefix, in front of that text
  unsigned nestedTexts = 0;
  unsigned substitutions = 0; ///< of what surrounds the current command
  /// The commands that changed the environment, by their lines.
  std::map<unsigned, std::string> environmentChanges;
  llvm::StringMap<Function> functions;
  unsigned conditions = 0; ///< of what surrounds the current command
  unsigned depth = 0;
  size_t callBudget = 0; ///< tokens that calls of functions may still read
  bool ended = false;    ///< an exit: what follows in this list is not run
  bool returned = false; ///< from the function that is being read
  std::vector<Saved> *locals = nullptr; ///< of that function
  bool toldDepth = false, toldCalls = false, toldLaunches = false;
};

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBREADER_H
