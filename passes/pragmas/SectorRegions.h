// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pragmas mean where they stand: which regions are open, which
// directive ends which, and what the parser gets in their place, and when. One
// object for each source file that is compiled; it lives as long as the
// preprocessor.
//
// A region is the code from its directive to the end directive in the same
// block. A wrong region is an error and not a warning: a region that never ends
// would leave the cache divided for the rest of the program.

#ifndef MPG_PASSES_PRAGMAS_SECTORREGIONS_H
#define MPG_PASSES_PRAGMAS_SECTORREGIONS_H

#include "CodePosition.h"
#include "PragmaLine.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"

namespace mpg {

/// A directive that begins a region, and the one that ends it.
struct Directive {
  const char *begin;
  const char *end;
  LineForm form;

  bool isAssign() const { return form == LineForm::names; }
};

/// All of them: scache_* of the manual for A64FX, cache_* of older programs.
llvm::ArrayRef<Directive> directives();

/// The statements that take the place of a pragma:
///
///   (void)__builtin_annotation((long)a, "mpg:1:assign:sector=1");
///
/// They are tokens for the parser, so that the language finds the variable and
/// clang itself reports an unknown name or one that is neither array nor
/// pointer. In the IR they are calls of llvm.annotation, which MpgPasses.so
/// reads and erases; without that plugin they compute nothing.
class MarkerTokens {
public:
  explicit MarkerTokens(clang::Preprocessor &pp);

  /// Adds the marker \p text ("mpg:1:..."); carets point to \p where.
  void add(clang::SourceLocation where, llvm::StringRef text);

  /// Adds the marker \p text about the variable of this name.
  void add(const clang::Token &name, llvm::StringRef text);

  void clear() { tokens.clear(); }

  /// Lets the parser read the markers next, and forgets them.
  void enter();

private:
  void begin();
  void end(llvm::StringRef text);
  void addKind(clang::tok::TokenKind kind);
  void addKinds(std::initializer_list<clang::tok::TokenKind> kinds);
  void addWord(llvm::StringRef word);
  void addLiteral(clang::tok::TokenKind kind, const std::string &text);
  void addPointer(const clang::Token &name);
  void addCastToLong(bool cxx);
  void addName(const clang::Token &name);

  clang::Preprocessor &pp;
  llvm::SmallVector<clang::Token, 0> tokens;
  clang::SourceLocation where; ///< of the marker that is being added
  bool emitted;                ///< for this target; else only checked
};

class SectorRegions {
public:
  explicit SectorRegions(clang::Preprocessor &pp) : pp(pp), pending(pp) {}

  /// The parser gets \p token.
  void advance(const clang::Token &token);

  /// `#pragma statement \p directive ...`; \p where is its name.
  void beginRegion(const Directive &directive, clang::SourceLocation where);

  /// `#pragma statement end_...`
  void endRegion(const Directive &directive, clang::SourceLocation where);

  /// `#pragma procedure \p directive ...`
  void beginProcedure(const Directive &directive, clang::SourceLocation where);

  /// No more tokens.
  void finish();

private:
  struct Region {
    const Directive *directive;
    clang::SourceLocation where;
    size_t depth;
    bool ignored; ///< no marker, so none at its end
  };

  bool addMarkers(const Directive &directive, clang::SourceLocation where,
                  llvm::StringRef prefix, MarkerTokens &markers);
  bool checkStatement(clang::SourceLocation where);
  void closeBlock(clang::SourceLocation where);
  void dropPending();

  clang::Preprocessor &pp;
  CodePosition position;
  llvm::SmallVector<Region, 4> open;
  MarkerTokens pending; ///< of a procedure directive before its function
  clang::SourceLocation pendingWhere;  ///< the last of these, if any
  clang::SourceLocation procedureWays; ///< of this or the next function
  bool pendingMissed = false; ///< something else stands before the function
};

} // namespace mpg

#endif // MPG_PASSES_PRAGMAS_SECTORREGIONS_H
