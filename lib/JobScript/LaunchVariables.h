// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The changes that the launchers of one command make to the environment of its
// program, launcher by launcher.

#pragma once

#include "JobScript/LauncherTable.h"
#include "JobScript/Launchers.h"

namespace mpg {

class LaunchVariables {
public:
  explicit LaunchVariables(std::vector<LaunchVariable> &all) : all(all) {}

  /// The next launcher. \p isOutside: see LaunchVariable.
  void begin(bool isOutside);
  /// After all changes so far.
  void add(LaunchVariable::Change change, llvm::StringRef name,
           const JobWord &value, llvm::StringRef how);
  /// "A=b", or "A" whose value is the shell's.
  void assign(const JobWord &assignment, llvm::StringRef how);
  /// "ALL,A=b,C": what srun --export and -genvlist take.
  void assignList(const JobWord &list, llvm::StringRef how);
  /// The launcher passes \p name, or nothing, on of the environment that it
  /// has; what it sets itself stays.
  void withhold(LaunchVariable::Change change, llvm::StringRef how,
                llvm::StringRef name = "");
  /// Removes the variables that the launcher drops without an option. \p own:
  /// its words.
  void withholdDropped(Launcher key, llvm::ArrayRef<JobWord> own);

private:
  void withholdByUser(llvm::StringRef name, bool clears);

  std::vector<LaunchVariable> &all;
  size_t ownFirst = 0; ///< of the launcher's own
  bool isOutside = false;
};

/// The part of \p word from \p length on. Where the whole word was the unknown
/// thing ("A={1,2}"), the part is.
JobWord wordAfter(const JobWord &word, size_t length);

} // namespace mpg
