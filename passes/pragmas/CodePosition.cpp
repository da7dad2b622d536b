// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the code the next token stands, told by brackets alone. See
// SectorRegions.h.

#include "SectorRegions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using namespace mpg;

/// Whether an OpenMP directive, by its first two words, stands alone: the
/// statement after it is not its body.
static bool standsAlone(StringRef words) {
  StringRef first = words.split(' ').first;
  return llvm::StringSwitch<bool>(words)
             .Cases({"target update", "target enter", "target exit",
                     "ordered depend", "ordered doacross"},
                    true)
             .Default(false) ||
         llvm::StringSwitch<bool>(first)
             .Cases({"barrier", "taskwait", "taskyield", "flush"}, true)
             .Cases({"cancel", "cancellation", "depobj", "error"}, true)
             .Cases({"threadprivate", "declare", "requires", "nothing"}, true)
             .Cases({"interop", "scan", "allocate", "end"}, true)
             .Default(false);
}

size_t CodePosition::functionDepth() const {
  const Bracket *body = llvm::find_if(brackets, [](const Bracket &bracket) {
    return bracket.scope == Scope::code;
  });
  return size_t(brackets.end() - body);
}

bool CodePosition::atStatement() const {
  if (!inFunction() || brackets.back().kind != tok::l_brace)
    return false;
  switch (previous) {
  case tok::l_brace:
  case tok::r_brace:
  case tok::semi:
  case tok::colon: // a label
    return true;
  default:
    return false;
  }
}

/// OpenMP's directives and loop hints reach the parser as tokens as well. They
/// are no code, but some of them need a statement right after them.
bool CodePosition::passOverDirective(const Token &token, StringRef spelling) {
  if (token.isOneOf(tok::annot_pragma_openmp, tok::annot_pragma_openacc)) {
    inDirective = true;
    directive.clear();
    return true;
  }
  if (token.isOneOf(tok::annot_pragma_openmp_end,
                    tok::annot_pragma_openacc_end)) {
    inDirective = false;
    if (!standsAlone(directive))
      previous = token.getKind();
    return true;
  }
  if (inDirective) {
    if (!spelling.empty() && !StringRef(directive).contains(' '))
      directive += (directive.empty() ? "" : " ") + spelling.str();
    return true;
  }
  if (token.isOneOf(tok::annot_pragma_loop_hint, tok::annot_pragma_captured))
    previous = token.getKind();
  return token.isAnnotation();
}

/// template <class T = int> would look like a class and an initializer.
bool CodePosition::passOverAngles(const Token &token) {
  if (angles == 0 && !(previous == tok::kw_template && token.is(tok::less)))
    return false;
  if (token.is(tok::less))
    ++angles;
  else if (token.is(tok::greater))
    --angles;
  else if (token.is(tok::greatergreater))
    angles -= std::min(angles, 2U);
  return true;
}

CodePosition::Event CodePosition::advance(const Token &token,
                                          StringRef spelling) {
  if (passOverDirective(token, spelling))
    return Event::none;
  Event event = Event::none;
  if (!inFunction() && passOverAngles(token)) {
    previous = token.getKind();
    return event;
  }
  switch (token.getKind()) {
  case tok::l_brace:
    event = openBrace();
    break;
  case tok::l_paren:
  case tok::l_square:
    noteHead(token);
    brackets.push_back({token.getKind(), Scope::nested});
    break;
  case tok::r_brace:
  case tok::r_paren:
  case tok::r_square:
    event = close(token);
    break;
  case tok::semi:
    // The parameters of an old C function end so as well; the brace after them
    // has nothing before it.
    if (brackets.empty() || brackets.back().scope == Scope::declarations) {
      head = Head();
      event = Event::declarationEnds;
    }
    break;
  default:
    noteHead(token);
  }
  previous = token.getKind();
  return event;
}

void CodePosition::noteHead(const Token &token) {
  if (!brackets.empty() && brackets.back().scope != Scope::declarations)
    return;
  head.empty = false;
  switch (token.getKind()) {
  case tok::kw___attribute:
  case tok::kw_alignas:
  case tok::kw__Alignas:
  case tok::kw___declspec:
    attributeNext = true;
    return;
  case tok::l_paren:
    head.parentheses |= !attributeNext;
    head.lambda |= head.assigned && previous == tok::r_square;
    attributeNext = false;
    return;
  case tok::kw_class:
  case tok::kw_struct:
  case tok::kw_union:
  case tok::kw_enum:
    head.typeWord = true;
    return;
  case tok::kw_namespace:
  case tok::string_literal: // extern "C"
    head.transparent = true;
    return;
  case tok::equal:
    head.assigned |= previous != tok::kw_operator;
    return;
  case tok::colon:
    head.initializers |= head.parentheses;
    return;
  default:
    return;
  }
}

CodePosition::Scope CodePosition::classify() const {
  if (head.assigned) {
    bool lambda = head.lambda || previous == tok::r_square;
    return lambda ? Scope::code : Scope::initializer;
  }
  // S() : member{1} {
  if (head.initializers &&
      (previous == tok::identifier || previous == tok::greater ||
       previous == tok::greatergreater))
    return Scope::initializer;
  if (head.parentheses)
    return Scope::code;
  if (head.typeWord || head.transparent)
    return Scope::declarations;
  // Nothing before it: the body of an old C function. A name: int x{1};
  return head.empty ? Scope::code : Scope::initializer;
}

CodePosition::Event CodePosition::openBrace() {
  bool outside =
      brackets.empty() || brackets.back().scope == Scope::declarations;
  Scope scope = outside ? classify() : Scope::nested;
  brackets.push_back({tok::l_brace, scope});
  if (scope == Scope::code)
    return head.empty ? Event::oldFunctionBegins : Event::functionBegins;
  if (scope == Scope::declarations) {
    head = Head();
    return Event::declarationEnds;
  }
  return Event::none;
}

/// A bracket without its partner is the parser's to report; here the count
/// just goes on.
CodePosition::Event CodePosition::close(const Token &token) {
  tok::TokenKind opening = token.is(tok::r_brace)   ? tok::l_brace
                           : token.is(tok::r_paren) ? tok::l_paren
                                                    : tok::l_square;
  if (opening == tok::l_brace)
    while (!brackets.empty() && brackets.back().kind != tok::l_brace)
      brackets.pop_back();
  if (brackets.empty() || brackets.back().kind != opening)
    return Event::none;
  // An initializer leaves what stands before it: S() : member{1}, other(2) {
  Scope scope = brackets.pop_back_val().scope;
  if (scope == Scope::code || scope == Scope::declarations)
    head = Head();
  return opening == tok::l_brace ? Event::blockEnds : Event::none;
}
