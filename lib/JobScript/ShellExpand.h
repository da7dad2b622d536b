// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands the words of a script: removes quotes, and replaces variables as far
// as the script gives their values.
//
// The rule is that a value which is called known is the one that bash would
// have; everything else is named as it is written.

#pragma once

#include "JobScript/JobScript.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <utility>
#include <vector>

namespace mpg {

/// Text with unknown parts, which it holds as they were written.
class ShellValue {
public:
  ShellValue() = default;
  explicit ShellValue(llvm::StringRef known) : text(known.str()) {}
  static ShellValue notKnown(llvm::StringRef written);

  void add(llvm::StringRef known) { text += known; }
  void addUnknown(llvm::StringRef written);
  void add(const ShellValue &value);

  bool known() const { return unknown.empty(); }
  llvm::StringRef str() const { return text; }
  /// The end of the unknown part that covers \p at; \p at if none does.
  size_t endOfUnknown(size_t at) const;
  /// From \p begin to \p end, which cut no unknown part.
  ShellValue slice(size_t begin, size_t end) const;
  JobWord word() const;
  /// The parts between the \p separators in known text.
  std::vector<JobWord> split(char separator) const;
  /// Equal in every run of the script.
  bool isSame(const ShellValue &other) const {
    return known() && other.known() && text == other.text;
  }

private:
  struct Part {
    size_t begin, end;
  };
  std::string text;
  std::vector<Part> unknown; ///< in order, apart from each other
};

struct ShellVariable {
  ShellValue value;
  bool set = true; ///< false: it is known that there is none
  /// False: whether it is set is not known either.
  bool certain = true;
  bool exported = false;
  bool readOnly = false;
  unsigned line = 0;
};

class ShellVariables {
public:
  /// Null if the script says nothing about it.
  const ShellVariable *find(llvm::StringRef name) const;
  void store(llvm::StringRef name, ShellVariable variable);
  /// Keeps whether it is exported.
  void setValue(llvm::StringRef name, ShellValue value, unsigned line);
  /// Back to what find() once said; no value: there was none.
  void restore(llvm::StringRef name, std::optional<ShellVariable> before);
  /// As after a command that may or may not have changed it.
  void forget(llvm::StringRef name, unsigned line);

  using Mark = size_t;
  Mark mark() const { return changes.size(); }
  /// Back to how everything was at \p mark.
  void undo(Mark mark);
  /// The present values of all that changed since \p mark.
  llvm::StringMap<ShellVariable> changedSince(Mark mark) const;

  const llvm::StringMap<ShellVariable> &all() const { return variables; }
  /// $1, $2, ... if they are known.
  std::optional<std::vector<ShellValue>> arguments;
  unsigned argumentChanges = 0; ///< how often set and shift were seen
  /// Of these, the ones in front whose position is known: after $N of an
  /// unknown N, which may be two words, it is not.
  size_t certainArguments = SIZE_MAX;

private:
  struct Change {
    std::string name;
    std::optional<ShellVariable> before;
  };
  llvm::StringMap<ShellVariable> variables;
  std::vector<Change> changes;
};

/// The branches of one command, of which one runs.
class ShellBranches {
public:
  explicit ShellBranches(ShellVariables &variables)
      : variables(variables), start(variables.mark()) {}

  /// Ends a branch: takes its changes back and remembers them. \p reached: its
  /// end is reached, not an exit.
  void endBranch(bool reached);
  /// Variables on whose value all branches agree have it, the others none that
  /// is known. \p complete: one of the branches runs in any case.
  void merge(bool complete);
  /// Nothing that a branch changed is known afterwards.
  void mergeAsUnknown();

private:
  struct Outcome {
    ShellVariable variable;
    unsigned branches = 1;
    bool same = true;
  };
  ShellVariables &variables;
  ShellVariables::Mark start;
  llvm::StringMap<Outcome> outcomes;
  unsigned branches = 0;
};

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
  bool resetUncertain() { return std::exchange(uncertain, false); }

private:
  friend class WordExpansion;
  ShellValue expandArray(llvm::StringRef raw, unsigned line);
  std::optional<ShellValue> expandEcho(llvm::StringRef whole, unsigned line);
  const ShellVariable *findArray(llvm::StringRef raw) const;
  void addArray(const ShellVariable &array, unsigned line,
                std::vector<ShellValue> &words);
  ShellVariables &variables;
  size_t budget;
  bool uncertain = false;
  unsigned echoDepth = 0; ///< how many $(echo ..) are being read
};

/// The value of "$((expression))", or nothing if it is not known. Numbers,
/// variables that are, + - * / % and parentheses.
std::optional<int64_t> evaluateShellArithmetic(llvm::StringRef expression,
                                               const ShellVariables &variables);

/// Variables that the shell sets by itself: what the script assigns to them is
/// not what it reads.
bool isDynamicVariable(llvm::StringRef name);

} // namespace mpg
