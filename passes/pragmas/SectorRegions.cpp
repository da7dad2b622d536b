// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SectorRegions.h.

#include "SectorRegions.h"
#include "PragmaLine.h"
#include "clang/Basic/TargetInfo.h"

using namespace clang;
using namespace mpg;

ArrayRef<Directive> mpg::directives() {
  static constexpr Directive table[] = {
      {"scache_isolate_way", "end_scache_isolate_way", LineForm::levels},
      {"scache_isolate_assign", "end_scache_isolate_assign", LineForm::names},
      {"cache_sector_size", "end_cache_sector_size", LineForm::pairs},
      {"cache_subsector_assign", "end_cache_subsector", LineForm::names},
  };
  return table;
}

void SectorRegions::advance(const Token &token) {
  const IdentifierInfo *word =
      token.isAnnotation() ? nullptr : token.getIdentifierInfo();
  switch (position.advance(token, word ? word->getName() : "")) {
  case CodePosition::Event::functionBegins:
    if (pendingMissed) {
      dropPending();
      break;
    }
    [[fallthrough]];
  case CodePosition::Event::oldFunctionBegins:
    pending.enter();
    pendingWhere = SourceLocation();
    pendingMissed = false;
    break;
  case CodePosition::Event::declarationEnds:
    pendingMissed = pendingWhere.isValid();
    break;
  case CodePosition::Event::blockEnds:
    closeBlock(token.getLocation());
    break;
  case CodePosition::Event::none:
    break;
  }
}

void SectorRegions::closeBlock(SourceLocation where) {
  while (!open.empty() && open.back().depth > position.depth()) {
    Region region = open.pop_back_val();
    reportError(pp, region.where,
                "'%0' has no '%1' in its block; without it the region has no "
                "end")
        << region.directive->begin << region.directive->end;
    reportNote(pp, where, "the block ends here");
  }
  // A directive before a function outlives braces of other declarations.
  if (!position.inFunction() && pendingWhere.isInvalid())
    procedureWays = SourceLocation();
}

void SectorRegions::dropPending() {
  reportError(pp, pendingWhere,
              "no function definition follows directly; write '#pragma "
              "procedure' before a function or at the top of its body");
  pending.clear();
  pendingWhere = SourceLocation();
  procedureWays = SourceLocation();
  pendingMissed = false;
}

void SectorRegions::finish() {
  if (pendingWhere.isValid())
    dropPending();
}

/// Whether a statement may be put where the directive stands.
bool SectorRegions::checkStatement(SourceLocation where) {
  if (!position.inFunction()) {
    reportError(pp, where,
                "'#pragma statement' belongs in the body of a function");
    return false;
  }
  if (!position.atStatement()) {
    // Its markers would become the body of the loop.
    reportError(pp, where,
                "the directive must stand before a statement of a block; put "
                "it before the loop, branch or directive above, or put braces "
                "around the body");
    return false;
  }
  return true;
}

/// Reads the rest of the line and adds what it asks for. False if that is
/// nothing: the line is wrong or to be ignored.
bool SectorRegions::addMarkers(const Directive &directive, SourceLocation where,
                               StringRef prefix, MarkerTokens &markers) {
  TokenList line = readLine(pp, directive.form);
  std::string text = ("mpg:1:" + prefix).str();
  if (directive.isAssign()) {
    TokenList names = parseNames(pp, line);
    for (const Token &name : names)
      markers.add(name, text + "assign:sector=1");
    return !names.empty();
  }
  std::optional<RequestedWays> ways = parseWays(pp, directive.form, line);
  if (!ways || ways->text().empty())
    return false;
  markers.add(where, text + "ways:" + ways->text());
  return true;
}

void SectorRegions::beginRegion(const Directive &directive,
                                SourceLocation where) {
  MarkerTokens markers(pp);
  bool found = addMarkers(directive, where, "", markers);
  if (!checkStatement(where))
    return;
  for (const Region &region : open)
    if (region.directive->isAssign() == directive.isAssign()) {
      reportError(pp, where, "'%0' inside a region of '%1'")
          << directive.begin << region.directive->begin;
      reportNote(pp, region.where, "the region begins here; end it with '%0'")
          << region.directive->end;
      break;
    }
  open.push_back({&directive, where, position.depth(), !found});
  markers.enter();
}

void SectorRegions::endRegion(const Directive &directive,
                              SourceLocation where) {
  parseNothing(pp, readLine(pp, LineForm::none));
  if (!checkStatement(where))
    return;
  auto found = llvm::find_if(llvm::reverse(open), [&](const Region &region) {
    return region.directive->isAssign() == directive.isAssign();
  });
  if (found == open.rend()) {
    reportError(pp, where, "'%0' without a '%1' before it")
        << directive.end << directive.begin;
    return;
  }
  Region region = *found;
  open.erase(std::next(found).base());
  if (region.directive != &directive || region.depth != position.depth()) {
    bool sameBlock = region.depth == position.depth();
    reportError(pp, where,
                sameBlock ? "'%0' cannot end '%1'"
                          : "'%0' is in another block than '%1'")
        << directive.end << region.directive->begin;
    reportNote(pp, region.where, "the region begins here; end it with '%0'")
        << region.directive->end;
    return;
  }
  if (region.ignored)
    return;
  MarkerTokens markers(pp);
  markers.add(where,
              directive.isAssign() ? "mpg:1:end-assign:" : "mpg:1:end-ways:");
  markers.enter();
}

void SectorRegions::beginProcedure(const Directive &directive,
                                   SourceLocation where) {
  bool before = !position.inFunction();
  MarkerTokens markers(pp);
  bool found =
      addMarkers(directive, where, "procedure-", before ? pending : markers);
  if (!before && (position.functionDepth() != 1 || !position.atStatement())) {
    reportError(pp, where,
                "write '#pragma procedure' before a function or at the top of "
                "its body; for a part of it there is '#pragma statement'");
    return;
  }
  if (found && !directive.isAssign()) {
    if (procedureWays.isValid()) {
      reportError(pp, where, "the function has its cache ways already");
      reportNote(pp, procedureWays, "given here");
    }
    procedureWays = where;
  }
  if (before)
    pendingWhere = where;
  markers.enter();
}

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
