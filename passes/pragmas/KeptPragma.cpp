// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KeptPragma.h.

#include "KeptPragma.h"
#include "SectorRegions.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace mpg;

/// The form of a directive; of another one's line no macro is touched.
static LineForm formOf(StringRef name) {
  const Directive *found =
      llvm::find_if(directives(), [&](const Directive &directive) {
        return name == directive.begin;
      });
  return found == directives().end() ? LineForm::none : found->form;
}

/// `_Pragma ( "text" )` and something to stop at, as if they stood at \p where.
static void enterPragma(Preprocessor &pp, StringRef text,
                        SourceLocation where) {
  struct {
    tok::TokenKind kind;
    std::string text;
  } const parts[] = {
      {tok::identifier, "_Pragma"},
      {tok::l_paren, "("},
      {tok::string_literal, "\"" + Lexer::Stringify(text) + "\""},
      {tok::r_paren, ")"},
      {tok::semi, ";"},
  };
  auto tokens = std::make_unique<Token[]>(std::size(parts));
  for (size_t i = 0; i != std::size(parts); ++i) {
    tokens[i].startToken();
    tokens[i].setKind(parts[i].kind);
    pp.CreateString(parts[i].text, tokens[i], where, where);
  }
  tokens[0].setIdentifierInfo(pp.getIdentifierInfo("_Pragma"));
  pp.EnterTokenStream(std::move(tokens), std::size(parts), false, true);
}

void mpg::keepPragma(Preprocessor &pp, PragmaHandler &handler,
                     const Token &first) {
  std::string text = pp.getSpelling(first);
  Token name;
  pp.LexUnexpandedToken(name);
  if (name.isNot(tok::eod)) {
    text += " " + pp.getSpelling(name);
    TokenList line = readLine(pp, formOf(pp.getSpelling(name)));
    for (const Token &token : llvm::ArrayRef(line).drop_back())
      text += (token.hasLeadingSpace() ? " " : "") + pp.getSpelling(token);
  }
  // clang itself writes what no handler knows.
  pp.RemovePragmaHandler(&handler);
  enterPragma(pp, text, first.getLocation());
  Token end;
  pp.Lex(end);
  pp.AddPragmaHandler(&handler);
}
