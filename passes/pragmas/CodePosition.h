// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the code are we? Follows the tokens that the parser gets and knows
// whether the next one starts a statement in a block of a function.
//
// The parser cannot be asked: it reads ahead, and keeps the tokens of a member
// function that stands in its class for later. So this goes by brackets and by
// what stands before an opening brace, which is enough to tell a function from
// a namespace, a class and an initializer. It looks up no names.

#ifndef MPG_PASSES_PRAGMAS_CODEPOSITION_H
#define MPG_PASSES_PRAGMAS_CODEPOSITION_H

#include "clang/Lex/Token.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mpg {

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

} // namespace mpg

#endif // MPG_PASSES_PRAGMAS_CODEPOSITION_H
