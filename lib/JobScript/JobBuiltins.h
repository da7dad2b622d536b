// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands that change variables and limits: builtins of the shell, modules,
// environments of spack and conda.

#ifndef MPG_JOBSCRIPT_JOBBUILTINS_H
#define MPG_JOBSCRIPT_JOBBUILTINS_H

#include "JobScript/JobState.h"

namespace mpg {

class JobBuiltins {
public:
  JobBuiltins(JobState &state, JobRecord &record)
      : state(state), variables(state.variables), record(record) {}

  /// Applies \p command. False: it is none of these commands, so the caller
  /// takes it for the start of a program.
  bool run(const ShellCommand &command);

  /// Of the function that is being read: "local" saves the values here that
  /// come back at its end. Null outside of functions.
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
