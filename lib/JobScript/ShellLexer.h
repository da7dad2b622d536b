// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words and operators of a shell script. Words stay as they are written:
// quotes and expansions are the expander's (ShellExpander.h). Redirections and
// here-documents change no variable and start no program; they are left out.

#ifndef MPG_JOBSCRIPT_SHELLLEXER_H
#define MPG_JOBSCRIPT_SHELLLEXER_H

#include "JobScript/JobScript.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace mpg {

enum class ShellTokenKind : uint8_t {
  word,
  newline,
  semicolon,
  background, ///< &
  caseEnd,    ///< ;; ;& ;;&
  pipe,
  andIf,
  orIf,
  open, ///< (
  close
};

struct ShellToken {
  ShellTokenKind kind;
  unsigned line;
  /// As written. "[[ ... ]]" and "(( ... ))" are one word each.
  llvm::StringRef text;
};

/// A comment that begins in the first column: directives are such.
struct ShellComment {
  llvm::StringRef text;
  unsigned line;
  bool afterCommand; ///< a command stands before it
};

struct ShellTokens {
  std::vector<ShellToken> tokens;
  std::vector<ShellComment> comments;
};

/// The tokens point into \p text. Time is linear in its size. What is not
/// closed ends with its line, and stands in \p problems.
ShellTokens lexShell(llvm::StringRef text, std::vector<JobProblem> &problems);

/// The position behind the quotes or the expansion that begins at \p at with
/// one of ' " ` $( ${ $' or with the ( of an array; npos if it is not closed.
/// \p inQuotes: it stands within "".
size_t skipShellQuotes(llvm::StringRef text, size_t at, bool inQuotes = false);

/// The length of the name that \p text begins with; 0 if it is none.
size_t shellNameLength(llvm::StringRef text);

/// The length of "NAME=", "NAME+=" or "NAME[..]=" at the beginning of \p word;
/// 0 if it is no assignment.
size_t shellAssignmentLength(llvm::StringRef word);

} // namespace mpg

#endif // MPG_JOBSCRIPT_SHELLLEXER_H
