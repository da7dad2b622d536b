// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one pragma line says: reads the words after a directive's name, checks
// them and reports what is wrong with clang's diagnostics, caret included. It
// knows nothing of where the line stands.

#ifndef MPG_PASSES_PRAGMAS_PRAGMALINE_H
#define MPG_PASSES_PRAGMAS_PRAGMALINE_H

#include "clang/Basic/DiagnosticCategories.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

namespace mpg {

/// How the words after a directive's name are written.
enum class LineForm {
  levels, ///< L2=n [L1=m]: ways of sector 1
  pairs,  ///< (l1s0,l1s1,l2s0,l2s1) or (l2s0,l2s1): ways of sectors 0 and 1
  names,  ///< a[,b...]
  none    ///< nothing
};

/// Cache ways of sector 1; a level that is not set stays as it is.
struct RequestedWays {
  std::optional<unsigned> l1, l2;

  /// "l2=10,l1=2"; "" if the directive is to be ignored.
  std::string text() const;
};

using TokenList = llvm::SmallVector<clang::Token, 16>;

/// The tokens up to the end of the line; the last one is that end. Macros are
/// expanded where numbers and variables are expected.
TokenList readLine(clang::Preprocessor &pp, LineForm form);

/// Reads a line of levels or pairs; nothing after an error.
std::optional<RequestedWays> parseWays(clang::Preprocessor &pp, LineForm form,
                                       llvm::ArrayRef<clang::Token> line);

/// Reads a list of names, at least one; empty after an error.
TokenList parseNames(clang::Preprocessor &pp,
                     llvm::ArrayRef<clang::Token> line);

/// Reports words after a directive that takes none.
void parseNothing(clang::Preprocessor &pp, llvm::ArrayRef<clang::Token> line);

// Errors, warnings and notes, as clang's own. The warnings are in the group
// that -Wno-ignored-pragmas switches off. Placeholders are clang's: %0, %1, ...
// for what follows by <<.

inline clang::DiagnosticBuilder report(clang::Preprocessor &pp,
                                       clang::SourceLocation at,
                                       clang::DiagnosticIDs::Class kind,
                                       clang::diag::Severity severity,
                                       llvm::StringRef text) {
  std::optional<clang::diag::Group> group;
  if (kind == clang::DiagnosticIDs::CLASS_WARNING)
    group = clang::diag::Group::IgnoredPragmas;
  clang::DiagnosticIDs::CustomDiagDesc description(severity, text.str(), kind,
                                                   false, false, group);
  return pp.Diag(
      at, pp.getDiagnostics().getDiagnosticIDs()->getCustomDiagID(description));
}

inline clang::DiagnosticBuilder reportError(clang::Preprocessor &pp,
                                            clang::SourceLocation at,
                                            llvm::StringRef text) {
  return report(pp, at, clang::DiagnosticIDs::CLASS_ERROR,
                clang::diag::Severity::Error, text);
}

inline clang::DiagnosticBuilder reportWarning(clang::Preprocessor &pp,
                                              clang::SourceLocation at,
                                              llvm::StringRef text) {
  return report(pp, at, clang::DiagnosticIDs::CLASS_WARNING,
                clang::diag::Severity::Warning, text);
}

inline clang::DiagnosticBuilder reportNote(clang::Preprocessor &pp,
                                           clang::SourceLocation at,
                                           llvm::StringRef text) {
  return report(pp, at, clang::DiagnosticIDs::CLASS_NOTE,
                clang::diag::Severity::Fatal, text);
}

} // namespace mpg

#endif // MPG_PASSES_PRAGMAS_PRAGMALINE_H
