// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tokens of a script are reserved words, and which of them belong
// together: if, then, else, fi. Found in one pass before anything is read, so
// that a loop or a function can be looked at as a whole.

#ifndef MPG_JOBSCRIPT_SHELLBLOCKS_H
#define MPG_JOBSCRIPT_SHELLBLOCKS_H

#include "JobScript/ShellLexer.h"

namespace mpg {

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
  patternEnd, ///< the ) behind the patterns of a case
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

#endif // MPG_JOBSCRIPT_SHELLBLOCKS_H
