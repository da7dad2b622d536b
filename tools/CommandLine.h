// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared part of the command lines of all programs: words that are not
// options, --help, --version, and the form of a usage error.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace llvm::opt {
class OptTable;
}

namespace mpg {

/// Adds \p word, a tab and \p description as a line, if \p word can become of
/// \p typed.
void addCompletion(std::string &lines, const llvm::Twine &word,
                   llvm::StringRef typed, llvm::StringRef description);

/// Every option that \p typed may become, or every value of one that is in the
/// table ("fugaku|mpg|auto"), one a line. Nothing where the shell knows better:
/// for files and numbers.
std::string completeOption(const llvm::opt::OptTable &table,
                           llvm::StringRef typed);

/// A program's texts about its command line.
struct ProgramText {
  const char *name;     ///< "mpginfo"
  const char *synopsis; ///< the first line of --help
  const char *purpose;  ///< of --help, above the options
  const char *ending;   ///< of --help, below them: operands, exit statuses
  int usageStatus = 2;  ///< the exit status of a usage error
  const char *listed = "options";                          ///< by --help
  const char *missingValue = "option '{0}' needs a value"; ///< of option {0}
};

/// The words of a program that starts another one.
struct SplitWords {
  llvm::ArrayRef<const char *> own;     ///< its options
  llvm::ArrayRef<const char *> command; ///< the other program and its words
};

/// The command begins at the first word that is neither an option of \p table
/// nor the value of one, or after "--". From there on, options are the other
/// program's.
SplitWords splitCommand(const llvm::opt::OptTable &table, int argc,
                        char **argv);

/// The words of a command line as options of a table, which must live as long.
/// A value follows "=" or is the next word: "--json=FILE", "--json FILE".
class CommandLine {
public:
  CommandLine(const llvm::opt::OptTable &table, const ProgramText &text,
              llvm::ArrayRef<const char *> words);

  const llvm::opt::InputArgList &args() const { return parsed; }

  /// Whether no more is to be done than what this has printed: a word is wrong,
  /// or the option \p help or \p version is given, or a shell completes a word
  /// (--autocomplete=WORD). \p status is then the exit status.
  bool isAnswered(llvm::opt::OptSpecifier help, llvm::opt::OptSpecifier version,
                  int &status) const;

  /// Says on standard error that the command line is wrong, and sets the exit
  /// status. Nothing, which parsers of command lines return.
  std::nullopt_t usageError(const llvm::Twine &problem, int &status) const;

private:
  std::string findProblem() const;

  const llvm::opt::OptTable &table;
  const ProgramText &text;
  llvm::ArrayRef<const char *> words;
  std::deque<std::string> joined; ///< "--json=FILE" of two words
  std::vector<const char *> plain;
  unsigned missingIndex = 0, missingCount = 0; // parsing sets them: before it
  const llvm::opt::InputArgList parsed;
};

/// Call at the end of main(). Returns \p status, or 2 where standard output
/// could not be written; a closed or full standard error loses messages alone.
int endOutput(llvm::StringRef program, int status);

} // namespace mpg
