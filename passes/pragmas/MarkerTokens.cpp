// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MarkerTokens.h.

#include "MarkerTokens.h"
#include "clang/Basic/TargetInfo.h"

using namespace clang;
using namespace mpg;

/// Markers are for AArch64 where a long holds a pointer.
static bool hasMarkers(const TargetInfo &target) {
  return target.getTriple().isAArch64() &&
         target.getLongWidth() == target.getPointerWidth(LangAS::Default);
}

MarkerTokens::MarkerTokens(Preprocessor &pp)
    : pp(pp), emitted(hasMarkers(pp.getTargetInfo())) {}

void MarkerTokens::addKind(tok::TokenKind kind) {
  Token token;
  token.startToken();
  token.setKind(kind);
  token.setLocation(where);
  tokens.push_back(token);
}

void MarkerTokens::addKinds(std::initializer_list<tok::TokenKind> kinds) {
  for (tok::TokenKind kind : kinds)
    addKind(kind);
}

void MarkerTokens::addWord(StringRef word) {
  IdentifierInfo *identifier = pp.getIdentifierInfo(word);
  addKind(identifier->getTokenID());
  tokens.back().setIdentifierInfo(identifier);
}

void MarkerTokens::addLiteral(tok::TokenKind kind, const std::string &text) {
  addKind(kind);
  pp.CreateString(text, tokens.back(), where, where);
}

/// A variable as a long, if it is an array or a pointer; just a pointer if
/// there is no marker. C++ has casts that refuse everything else, and
/// -Wold-style-cast. In C only the dereference does:
/// (long)(__typeof__(&*(a)))(a).
void MarkerTokens::addPointer(const Token &name) {
  bool cxx = pp.getLangOpts().CPlusPlus;
  if (emitted) {
    addCastToLong(cxx);
    if (!cxx) {
      addKind(tok::l_paren);
      addWord("__typeof__");
    }
    addKind(tok::l_paren);
  }
  if (cxx) {
    addWord("static_cast");
    addKind(tok::less);
    addWord("const");
    addWord("volatile");
    addWord("void");
    addKinds({tok::star, tok::greater});
  } else {
    addKinds({tok::amp, tok::star});
  }
  addName(name);
  if (!emitted)
    return;
  addKind(tok::r_paren);
  if (!cxx) {
    addKind(tok::r_paren);
    addName(name);
  }
}

void MarkerTokens::addCastToLong(bool cxx) {
  if (cxx)
    addWord("reinterpret_cast");
  addKind(cxx ? tok::less : tok::l_paren);
  addWord("long");
  addKind(cxx ? tok::greater : tok::r_paren);
}

void MarkerTokens::addName(const Token &name) {
  addKind(tok::l_paren);
  tokens.push_back(name);
  addKind(tok::r_paren);
}

void MarkerTokens::begin() {
  addKind(tok::l_paren);
  // Else -Wmisleading-indentation takes it for more of a loop above.
  tokens.back().setFlag(Token::StartOfLine);
  addWord("void");
  addKind(tok::r_paren);
  // For other targets an operand that is not evaluated: checked, no code.
  addWord(emitted ? "__builtin_annotation" : "sizeof");
  addKind(tok::l_paren);
}

void MarkerTokens::end(StringRef text) {
  if (emitted) {
    addKind(tok::comma);
    addLiteral(tok::string_literal, ("\"" + text + "\"").str());
  }
  addKinds({tok::r_paren, tok::semi});
}

void MarkerTokens::add(SourceLocation at, StringRef text) {
  if (!emitted)
    return;
  where = at;
  begin();
  addLiteral(tok::numeric_constant, "0L");
  end(text);
}

void MarkerTokens::add(const Token &name, StringRef text) {
  where = name.getLocation();
  begin();
  addPointer(name);
  end(text);
}

void MarkerTokens::enter() {
  if (tokens.empty())
    return;
  auto stream = std::make_unique<Token[]>(tokens.size());
  std::copy(tokens.begin(), tokens.end(), stream.get());
  // Not expanded again: a macro named long must not get in.
  pp.EnterTokenStream(std::move(stream), unsigned(tokens.size()), true, true);
  tokens.clear();
}
