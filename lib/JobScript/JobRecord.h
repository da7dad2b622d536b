// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes down what the reader finds in a script, as far as its size allows.

#ifndef MPG_JOBSCRIPT_JOBRECORD_H
#define MPG_JOBSCRIPT_JOBRECORD_H

#include "JobScript/JobScript.h"
#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_JOBSCRIPT_JOBRECORD_H
