// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one grammar of hints, mpg:1:<kind>:<args>, that the macros of
// <mpg/hints.h>, the pragmas and the side file all use. docs/hints.md
// describes it.

#ifndef MPG_PASSES_HINTTEXT_H
#define MPG_PASSES_HINTTEXT_H

#include "base/Hint.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mpg {

/// What a text is about. Those with an end stand in a function's body and mean
/// the code between.
enum class HintKind {
  hint,            ///< data, or a function's accesses
  touch,           ///< first touch: an array's memory, or all of a function's
  ways,            ///< cache ways: a function, or the code up to endWays
  assign,          ///< hint for one variable up to endAssign
  procedureAssign, ///< the same for the whole function
  procedureWays,
  endAssign,
  endWays
};

struct HintText {
  HintKind kind = HintKind::hint;
  Hint hint; ///< of hint, assign, procedureAssign
  Ways ways; ///< of ways, procedureWays
  TouchChoice touch = TouchChoice::none;
};

/// Whether \p text is meant for us; another tool's annotation is not.
bool isHintText(llvm::StringRef text);

/// Reads "mpg:1:<kind>:<args>". The error names the word that is wrong and what
/// may stand there.
llvm::Expected<HintText> parseHintText(llvm::StringRef text);

/// Reads what follows "mpg:1:" in a side file, where "hint:" may be
/// missing.
llvm::Expected<HintText> parseShortHintText(llvm::StringRef text);

} // namespace mpg

#endif // MPG_PASSES_HINTTEXT_H
