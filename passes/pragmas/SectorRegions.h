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

#include "PragmaLine.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/Token.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mpg {

// Where in the code are we? Follows the tokens that the parser gets and knows
// whether the next one starts a statement in a block of a function.
//
// The parser cannot be asked: it reads ahead, and keeps the tokens of a member
// function that stands in its class for later. So this goes by brackets and by
// what stands before an opening brace, which is enough to tell a function from
// a namespace, a class and an initializer. It looks up no names.

class CodePosition {
public:
  /// What a token did.
  enum class Event {
    none,
    functionBegins,    ///< opening brace of a function's body
    oldFunctionBegins, ///< the same; declarations of parameters ended before
    blockEnds,         ///< closing brace; depth() is that of the code around
    declarationEnds,   ///< of something else than a function, outside of them
  };

  /// \p token is the next one; \p spelling its text if it is a word, else "".
  Event advance(const clang::Token &token, llvm::StringRef spelling);

  bool inFunction() const { return functionDepth() != 0; }

  /// Number of open brackets.
  size_t depth() const { return brackets.size(); }

  /// Brackets from that of the function's body on: 1 is its outermost block.
  size_t functionDepth() const;

  /// Whether what follows starts a statement or declaration of a block, and is
  /// not the body of a loop, a branch or an OpenMP directive.
  bool atStatement() const;

private:
  enum class Scope { declarations, code, initializer, nested };
  struct Bracket {
    clang::tok::TokenKind kind;
    Scope scope;
  };

  /// What stands between the last declaration and an opening brace.
  struct Head {
    bool parentheses = false;  ///< (...), not those of an attribute
    bool typeWord = false;     ///< class, struct, union, enum
    bool transparent = false;  ///< namespace, extern "C"
    bool assigned = false;     ///< = initializer
    bool lambda = false;       ///< ](...) after the =
    bool initializers = false; ///< (...) : of a constructor
    bool empty = true;
  };

  bool passOverDirective(const clang::Token &token, llvm::StringRef spelling);
  bool passOverAngles(const clang::Token &token);
  void noteHead(const clang::Token &token);
  Event openBrace();
  Event close(const clang::Token &token);
  Scope classify() const;

  llvm::SmallVector<Bracket, 16> brackets;
  Head head;
  clang::tok::TokenKind previous = clang::tok::semi;
  bool attributeNext = false; ///< the next ( belongs to an attribute
  unsigned angles = 0;        ///< open < of a template's parameters
  std::string directive;      ///< words of the OpenMP directive that is open
  bool inDirective = false;
};

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
