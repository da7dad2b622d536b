// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the words of a script stand for: quotes removed, variables replaced as
// far as the script says what they are.
//
// The rule is that a value which is called known is the one that bash would
// have; everything else is named as it is written.

#ifndef MPG_JOBSCRIPT_SHELLEXPAND_H
#define MPG_JOBSCRIPT_SHELLEXPAND_H

#include "JobScript/ShellVariables.h"
#include "llvm/ADT/StringRef.h"
#include <utility>

namespace mpg {

class ShellExpander {
public:
  /// At most \p budgetBytes of replaced text; after that nothing is known.
  ShellExpander(ShellVariables &variables, size_t budgetBytes)
      : variables(variables), budget(budgetBytes) {}

  /// The value of an assignment: it is not split.
  ShellValue expandAssigned(llvm::StringRef raw, unsigned line);
  /// The words that \p raw, a word of a command, becomes: mostly one.
  void expandWord(llvm::StringRef raw, unsigned line,
                  std::vector<ShellValue> &words);
  /// Whether words since the last call may be more or fewer than they seem.
  bool takeUncertain() { return std::exchange(uncertain, false); }

private:
  friend class WordExpansion;
  ShellValue expandArray(llvm::StringRef raw, unsigned line);
  const ShellVariable *findArray(llvm::StringRef raw) const;
  void addArray(const ShellVariable &array, unsigned line,
                std::vector<ShellValue> &words);
  ShellVariables &variables;
  size_t budget;
  bool uncertain = false;
};

/// The value of "$((expression))", or nothing if it is not known. Numbers,
/// variables that are, + - * / % and parentheses.
std::optional<int64_t> evaluateShellArithmetic(llvm::StringRef expression,
                                               const ShellVariables &variables);

/// Variables that the shell sets by itself: what the script assigns to them is
/// not what it reads.
bool isDynamicVariable(llvm::StringRef name);

} // namespace mpg

#endif // MPG_JOBSCRIPT_SHELLEXPAND_H
