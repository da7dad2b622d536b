// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The statements that take the place of a pragma:
//
//   (void)__builtin_annotation((long)a, "mpg:1:assign:sector=1");
//
// They are tokens for the parser, so that the language finds the variable and
// clang itself reports an unknown name or one that is neither array nor
// pointer. In the IR they are calls of llvm.annotation, which MpgPasses.so
// reads and erases; without that plugin they compute nothing.

#ifndef MPG_PASSES_PRAGMAS_MARKERTOKENS_H
#define MPG_PASSES_PRAGMAS_MARKERTOKENS_H

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/SmallVector.h"

namespace mpg {

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

} // namespace mpg

#endif // MPG_PASSES_PRAGMAS_MARKERTOKENS_H
