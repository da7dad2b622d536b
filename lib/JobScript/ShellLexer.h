// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words and operators of a shell script, and which of them are reserved and
// belong together: if, then, else, fi. Words stay as they are written: quotes
// and expansions are the expander's (ShellExpand.h). Redirections and here-
// documents are kept apart: only the commands in them matter. Blocks
// are found in one pass before anything is read, so that a loop or a function
// can be looked at as a whole.

#pragma once

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
  bool afterCommand; ///< a command precedes it
};

/// A word of a redirection that has commands in it, or a here-document.
struct ShellHidden {
  enum Kind : uint8_t {
    redirection,
    document,
    plainDocument ///< "<<'EOF'": nothing in it is expanded
  };
  size_t tokensBefore;
  llvm::StringRef text;
  unsigned line; ///< of its first character
  Kind kind;
};

struct ShellTokens {
  std::vector<ShellToken> tokens;
  std::vector<ShellHidden> hidden; ///< in order
  std::vector<ShellComment> comments;
};

/// The tokens point into \p text. Time is linear in its size. Unclosed quotes
/// end with their line; \p problems lists them.
ShellTokens lexShell(llvm::StringRef text, std::vector<JobProblem> &problems);

/// The position after the quotes or the expansion that begins at \p at with
/// one of ' " ` $( ${ $' or with the ( of an array; npos if it is not closed.
/// \p inQuotes: it stands within "".
size_t skipShellQuotes(llvm::StringRef text, size_t at, bool inQuotes = false);

/// A command substitution or a process substitution.
struct ShellSubstitution {
  llvm::StringRef text; ///< the commands in it
  bool isOld;           ///< `..`, in which \ quotes ` and $
};

/// Those in \p raw, a word or a text in "" (\p inQuotes); not those within
/// others.
std::vector<ShellSubstitution> findSubstitutions(llvm::StringRef raw,
                                                 bool inQuotes = false);

/// The length of the name that \p text begins with; 0: it begins with none.
size_t shellNameLength(llvm::StringRef text);

/// The length of "NAME=", "NAME+=" or "NAME[..]=" at the beginning of \p word;
/// 0 for other words.
size_t shellAssignmentLength(llvm::StringRef word);

enum class ShellRole : uint8_t {
  none,   ///< a word like any other, or an operator
  prefix, ///< ! and "time" before a compound command
  stray,  ///< a closing word that closes nothing
  ifWord,
  elifWord,
  thenWord,
  elseWord,
  fiWord,
  loopWord, ///< while, until
  forWord,  ///< for, select
  doWord,
  doneWord,
  caseWord,
  patternEnd, ///< the ) after the patterns of a case
  clauseEnd,  ///< ;;
  esacWord,
  openBrace,
  closeBrace,
  subshell, ///< (
  subshellEnd,
  function ///< the word function, or the name before ()
};

struct ShellBlocks {
  std::vector<ShellRole> roles; ///< one of each token
  /// Of a reserved word: the next one of its command. if: then: else: fi;
  /// case: the ) of a clause: its ;; and so on to esac; function: its body.
  /// The number of tokens if there is none.
  std::vector<size_t> next;
};

ShellBlocks findShellBlocks(const std::vector<ShellToken> &tokens,
                            std::vector<JobProblem> &problems);

} // namespace mpg
