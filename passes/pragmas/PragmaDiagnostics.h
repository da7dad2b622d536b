// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors, warnings and notes of the pragmas, as clang's own. The warnings are
// in the group that -Wno-ignored-pragmas switches off. Placeholders are
// clang's: %0, %1, ... for what follows by <<.

#ifndef MPG_PASSES_PRAGMAS_PRAGMADIAGNOSTICS_H
#define MPG_PASSES_PRAGMAS_PRAGMADIAGNOSTICS_H

#include "clang/Basic/DiagnosticCategories.h"
#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Lex/Preprocessor.h"

namespace mpg {

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

#endif // MPG_PASSES_PRAGMAS_PRAGMADIAGNOSTICS_H
