// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that the commands of a script have set so far: variables, the folder,
// the limit of the stack, and whether a command that is not read may have
// changed the environment.

#pragma once

#include "JobScript/JobScript.h"
#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"
#include <map>

namespace mpg {

/// Whether the variable \p name has the folder that the job is submitted from.
bool isSubmitVariable(llvm::StringRef name);

// JobRecord.cpp: writes down what the reader finds in a script, as far as its
// size allows.

/// A variable's name, and what it was; nothing: there was none.
using SavedVariable = std::pair<std::string, std::optional<ShellVariable>>;

/// One simple command, expanded.
struct ShellCommand {
  unsigned line = 0;
  /// Of "A=b", "A+=b", "A[i]=b": up to the equals sign, and the value.
  std::vector<std::pair<std::string, ShellValue>> assignments;
  std::vector<ShellValue> values;
  std::vector<JobWord> words; ///< the same
  /// Words in front whose number is known.
  size_t certainWords = SIZE_MAX;
  std::vector<SavedVariable> saved; ///< what "A=b command" has changed
  /// Its standard input, where that is a here-document.
  std::optional<ShellHidden> document;
  /// "" if it is not known.
  llvm::StringRef name() const {
    bool known = !words.empty() && words[0].known();
    return known ? llvm::StringRef(words[0].text) : llvm::StringRef();
  }
  /// Word \p i; "" if there are fewer.
  llvm::StringRef word(size_t i) const {
    return i < words.size() ? llvm::StringRef(words[i].text) : "";
  }
};

class JobRecord {
public:
  /// Copies at most \p budgetBytes of the script's text.
  JobRecord(JobScript &script, size_t budgetBytes)
      : script(script), budget(budgetBytes) {}

  void addSetting(llvm::StringRef name, JobWord value, unsigned line,
                  llvm::StringRef how);
  void addCommand(const ShellCommand &command);
  void addProblem(unsigned line, const llvm::Twine &text) {
    script.problems.push_back({line, text.str()});
  }
  void addNotUnderstood(unsigned line, const llvm::Twine &text) {
    if (script.notUnderstood.size() < maxPlaces)
      script.notUnderstood.push_back({line, text.str()});
  }
  /// False, and nothing is taken, if so much is not left of the budget.
  bool spend(size_t bytes);
  bool isConditional() const { return conditions > 0; }

  static constexpr size_t maxPlaces = 100; ///< a report shows fewer
  JobScript &script;
  unsigned conditions = 0; ///< of what surrounds the current command

private:
  size_t budget; ///< bytes, of environments of launches as well
};

class JobState {
public:
  explicit JobState(JobRecord &record) : record(record) {}

  // Entries of `variables` that are none of the shell's, but change with the
  // branches as these do.
  static constexpr llvm::StringLiteral stackLimitName = "ulimit -s";
  static constexpr llvm::StringLiteral exportAllName = "set -a";
  static constexpr llvm::StringLiteral folderName = "cd";
  static constexpr llvm::StringLiteral pushedName = "pushd"; ///< how many
  ShellVariables variables;

  /// \p target is "NAME=", "NAME+=" or "NAME[i]=".
  void assign(llvm::StringRef target, const ShellValue &value, unsigned line);
  void exportVariable(llvm::StringRef name);
  void unset(llvm::StringRef name, unsigned line);
  SavedVariable save(llvm::StringRef name) const;
  void restore(const std::vector<SavedVariable> &saved);
  bool exportsAll() const; ///< "set -a"
  /// Another shell gets what is exported.
  void keepExported(unsigned line);
  /// Of \p certainWords of a command, those from word \p first on.
  static size_t certainFrom(size_t certainWords, size_t first);

  struct Place {
    ShellVariables::Mark variables;
    unsigned argumentChanges;
  };
  Place mark() const { return {variables.mark(), variables.argumentChanges}; }
  /// Back to the variables as they were before a subshell. Its changes of $1,
  /// $2, ... make these unknown: to copy them for each command takes too long.
  void leaveShell(Place start);

  /// Where the script is now; "" where the job starts.
  JobWord folder() const;
  void changeFolder(const ShellCommand &command);
  void pushFolder(const ShellCommand &command);
  void popFolder(const ShellCommand &command);
  /// "#SBATCH --chdir=FOLDER"
  void startIn(llvm::StringRef folder, unsigned line);

  /// After \p line, which is \p what, the variables are unknown. Lists of
  /// folders keep the part that the script itself adds.
  void forgetEnvironment(unsigned line, std::string what);
  void forgetEnvironment(const ShellCommand &command);
  /// Says in \p launch which command may have changed its variables.
  void setUnknownFrom(Launch &launch) const;
  /// The stack limit that programs get, if the script sets it.
  std::optional<uint64_t> stackBytes() const;

private:
  // Set where any variable may have been changed by what is not read.
  static constexpr llvm::StringLiteral unknownFromName = "module load";

  void setPwd(unsigned line);
  void setFolder(const ShellCommand &command);
  void forgetFolders(unsigned line);
  std::optional<unsigned> pushedFolders() const;

  JobRecord &record;
  /// The commands that changed the environment, by their lines.
  std::map<unsigned, std::string> environmentChanges;
};

} // namespace mpg
