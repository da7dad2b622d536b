// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State that the commands of a script have set so far: variables, the folder,
// the limit of the stack, and whether a command that is not read may have
// changed the environment.

#ifndef MPG_JOBSCRIPT_JOBSTATE_H
#define MPG_JOBSCRIPT_JOBSTATE_H

#include "JobScript/JobRecord.h"
#include <map>

namespace mpg {

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

#endif // MPG_JOBSCRIPT_JOBSTATE_H
