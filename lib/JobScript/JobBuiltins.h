// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that change what the script has set: builtins of the shell, modules,
// environments of spack and conda.

#ifndef MPG_JOBSCRIPT_JOBBUILTINS_H
#define MPG_JOBSCRIPT_JOBBUILTINS_H

#include "JobScript/JobState.h"

namespace mpg {

class JobBuiltins {
public:
  JobBuiltins(JobState &state, JobRecord &record)
      : state(state), variables(state.variables), record(record) {}

  /// False: \p command starts a program, so far as is known here.
  bool run(const ShellCommand &command);

  /// Where "local" saves variables of the function that is being read.
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

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBBUILTINS_H
