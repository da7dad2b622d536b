// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of a file's pragmas: which function each belongs to, which end
// belongs to which begin, which variables are named. Puts markers into the
// functions for what can be honoured, and reports the rest.
//
// A region is the code from its directive to the end directive. Both must be
// passed whenever one of them is: a region without an end would leave the cache
// divided for the rest of the program. Regions nest.

#pragma once

#include "BodyMap.h"
#include "PragmaLine.h"
#include "SectorMarkers.h"
#include "llvm/ADT/DenseSet.h"
#include <deque>

namespace mpg {

class SectorRegions {
public:
  SectorRegions(clang::Preprocessor &pp, llvm::ArrayRef<std::string> options)
      : pp(pp), warnings(pp, options) {}

  void setSema(clang::Sema &used) { sema = &used; }

  /// Reads the line of a pragma: `#pragma statement|procedure|loop word ...`.
  void readPragma(const Directive &directive, PragmaUse::Kind kind,
                  clang::SourceLocation pragma, const clang::Token &name);

  /// \p declaration is complete. The functions in it get their markers.
  void handle(clang::Decl *declaration);

  /// No more declarations.
  void finish();

private:
  void handleFunction(clang::FunctionDecl &function,
                      llvm::ArrayRef<clang::FunctionDecl *> all);
  bool isPendingFor(const PragmaUse &use, const clang::FunctionDecl &function);
  void reportTemplates();

  clang::Preprocessor &pp;
  clang::Sema *sema = nullptr;
  PragmaWarnings warnings;
  std::deque<PragmaUse> uses; ///< in the order of the source
  llvm::DenseSet<const clang::FunctionDecl *> handled;
  unsigned regionCount = 0;
};

} // namespace mpg
