// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One cursor moves over the tokens of a line. Commas between words may be
// missing, and one may be extra, as in real programs. A function that finds a
// wrong token reports it and returns nothing.

#include "PragmaLine.h"

using namespace clang;
using namespace mpg;

ArrayRef<Directive> mpg::directives() {
  static constexpr Directive table[] = {
      {"scache_isolate_way", "end_scache_isolate_way", LineForm::levels},
      {"scache_isolate_assign", "end_scache_isolate_assign", LineForm::names},
      {"cache_sector_size", "end_cache_sector_size", LineForm::pairs},
      {"cache_subsector_assign", "end_cache_subsector", LineForm::names},
      // 18: as zfillDefaultLines of the passes.
      {"zfill", nullptr, LineForm::lines, "zfill=", 1, 100, 18},
      {"nozfill", nullptr, LineForm::none, "zfill=off"},
      {"prefetch", nullptr, LineForm::none, "prefetch=on"},
      {"prefetch_sequential", nullptr, LineForm::mode, "prefetch=on"},
      {"noprefetch", nullptr, LineForm::none, "prefetch=off"},
      {"prefetch_line", nullptr, LineForm::lines, "prefetch-line=", 0, 100},
      {"prefetch_line_L2", nullptr, LineForm::lines, "prefetch-line-l2=", 0,
       500},
      {"prefetch_indirect", nullptr, LineForm::lines, "prefetch-indirect=", 0,
       1000},
  };
  return table;
}

TokenList mpg::readLine(Preprocessor &pp, LineForm form) {
  TokenList line;
  do {
    // A program may well have a macro of the name L2.
    bool expanded = form == LineForm::pairs || form == LineForm::names ||
                    form == LineForm::lines;
    if (form == LineForm::levels && !line.empty())
      expanded =
          line.back().isOneOf(tok::equal, tok::minus, tok::plus, tok::l_paren);
    Token token;
    if (expanded)
      pp.Lex(token);
    else
      pp.LexUnexpandedToken(token);
    line.push_back(token);
  } while (line.back().isNot(tok::eod));
  return line;
}

namespace {
class LineParser {
public:
  LineParser(Preprocessor &pp, ArrayRef<Token> line, PragmaUse &use,
             PragmaWarnings &warnings)
      : pp(pp), line(line), use(use), warnings(warnings) {}

  void parse();

private:
  const Token &peek() const { return line.front(); }
  bool atEnd() const { return peek().is(tok::eod); }
  Token consume();
  bool consumeIf(tok::TokenKind kind);
  void wrong(const Twine &text) {
    warnings.ignore(use, peek().getLocation(), text);
  }
  bool closeParenthesis();

  std::optional<WayCount> parseCount();
  void parseLevels();
  void parsePairs();
  void parseNames();
  void parseLines();
  void parseMode();
  bool parseName();
  void skipSubscripts();

  Preprocessor &pp;
  ArrayRef<Token> line;
  PragmaUse &use;
  PragmaWarnings &warnings;
};
} // namespace

Token LineParser::consume() {
  Token token = peek();
  if (!atEnd())
    line = line.drop_front();
  return token;
}

bool LineParser::consumeIf(tok::TokenKind kind) {
  if (peek().isNot(kind))
    return false;
  consume();
  return true;
}

bool LineParser::closeParenthesis() {
  if (!consumeIf(tok::r_paren))
    wrong("expected ')'");
  return !use.isWrong;
}

/// [-+]n or a name, or the same in parentheses, as macros have it.
std::optional<WayCount> LineParser::parseCount() {
  WayCount count;
  count.where = peek().getLocation();
  unsigned open = 0;
  while (consumeIf(tok::l_paren))
    ++open;
  bool isSigned = peek().isOneOf(tok::minus, tok::plus);
  bool isNegative = isSigned && consume().is(tok::minus);
  if (!isSigned && peek().is(tok::identifier)) {
    count.name = consume().getIdentifierInfo();
  } else if (peek().is(tok::numeric_constant) &&
             !StringRef(pp.getSpelling(peek()))
                  .rtrim("uUlL")
                  .getAsInteger(0, count.number)) {
    consume();
    count.number = isNegative ? -count.number : count.number;
  } else {
    wrong("expected a number of cache ways, or a variable that holds one");
    return std::nullopt;
  }
  for (; open != 0; --open)
    if (!closeParenthesis())
      return std::nullopt;
  return count;
}

void LineParser::parseLevels() {
  do {
    StringRef name;
    if (const IdentifierInfo *word = peek().getIdentifierInfo())
      name = word->getName();
    if (name != "L1" && name != "L2")
      return wrong("expected 'L2=' or 'L1=' and a number of cache ways");
    std::optional<LevelWays> &level = name == "L1" ? use.l1 : use.l2;
    if (level)
      return wrong("'" + name + "' is given twice");
    consume();
    if (!consumeIf(tok::equal))
      return wrong("expected '=' after '" + name + "'");
    std::optional<WayCount> count = parseCount();
    if (!count)
      return;
    level = LevelWays{std::nullopt, *count};
    consumeIf(tok::comma);
  } while (!atEnd());
}

void LineParser::parsePairs() {
  bool hasParentheses = consumeIf(tok::l_paren);
  SmallVector<WayCount, 4> counts;
  while (!atEnd() && peek().isNot(tok::r_paren)) {
    std::optional<WayCount> count = parseCount();
    if (!count)
      return;
    counts.push_back(*count);
    consumeIf(tok::comma);
  }
  if (counts.size() != 2 && counts.size() != 4)
    return wrong("expected 2 numbers of cache ways, of sectors 0 and 1 of L2, "
                 "or 4, those of L1 before them");
  if (hasParentheses && !closeParenthesis())
    return;
  if (counts.size() == 4)
    use.l1 = LevelWays{counts[0], counts[1]};
  use.l2 = LevelWays{counts[counts.size() - 2], counts.back()};
}

/// [...], (...), .name, ->name behind a variable.
void LineParser::skipSubscripts() {
  unsigned open = 0;
  while (!atEnd()) {
    if (peek().isOneOf(tok::l_square, tok::l_paren))
      ++open;
    else if (open != 0 && peek().isOneOf(tok::r_square, tok::r_paren))
      --open;
    else if (peek().isOneOf(tok::period, tok::arrow))
      consume();
    else if (open == 0)
      return;
    consume();
  }
}

/// One variable; false after an error.
bool LineParser::parseName() {
  VariableName name;
  name.where = peek().getLocation();
  ArrayRef<Token> first = line;
  while (consumeIf(tok::star) || consumeIf(tok::amp))
    name.isExpression = true;
  name.isGlobal = consumeIf(tok::coloncolon);
  bool isMember = peek().is(tok::kw_this);
  if (isMember) {
    consume();
    isMember = consumeIf(tok::arrow);
  }
  do {
    if (peek().isNot(tok::identifier)) {
      wrong("expected the name of an array or a pointer");
      return false;
    }
    name.words.push_back(consume().getIdentifierInfo());
  } while (consumeIf(tok::coloncolon));
  if (peek().isOneOf(tok::l_square, tok::l_paren, tok::period, tok::arrow)) {
    name.isExpression = true;
    skipSubscripts();
  }
  for (const Token &token : first.drop_back(line.size()))
    name.text += pp.getSpelling(token);
  use.names.push_back(name);
  return true;
}

void LineParser::parseNames() {
  bool hasParentheses = consumeIf(tok::l_paren);
  do {
    if (!parseName())
      return;
    consumeIf(tok::comma);
  } while (!atEnd() && peek().isNot(tok::r_paren));
  if (hasParentheses)
    closeParenthesis();
}

void LineParser::parseLines() {
  const Directive &directive = *use.directive;
  use.lines = directive.usual;
  if (atEnd() && directive.usual)
    return;
  bool hasParentheses = consumeIf(tok::l_paren);
  bool isNumber =
      peek().is(tok::numeric_constant) &&
      !StringRef(pp.getSpelling(peek())).getAsInteger(0, use.lines) &&
      use.lines >= directive.min && use.lines <= directive.max;
  if (!isNumber)
    return wrong("expected a number of lines from " + Twine(directive.min) +
                 " to " + Twine(directive.max));
  consume();
  if (hasParentheses)
    closeParenthesis();
}

/// Who decides is the same here for both.
void LineParser::parseMode() {
  if (atEnd())
    return;
  const IdentifierInfo *word = peek().getIdentifierInfo();
  if (!word || (word->getName() != "soft" && word->getName() != "auto"))
    return wrong("expected 'auto' or 'soft'");
  consume();
}

void LineParser::parse() {
  LineForm form =
      use.kind == PragmaUse::end ? LineForm::none : use.directive->form;
  if (form == LineForm::levels)
    parseLevels();
  else if (form == LineForm::pairs)
    parsePairs();
  else if (form == LineForm::names)
    parseNames();
  else if (form == LineForm::lines)
    parseLines();
  else if (form == LineForm::mode)
    parseMode();
  if (use.isWrong || atEnd())
    return;
  // The end of a region is clear, whatever follows.
  if (use.kind == PragmaUse::end)
    warnings.warn(use, peek().getLocation(),
                  "'" + use.word() + "' takes no words; they are ignored");
  else
    wrong("unexpected word at the end of the line");
}

void mpg::parseLine(Preprocessor &pp, ArrayRef<Token> line, PragmaUse &use,
                    PragmaWarnings &warnings) {
  LineParser(pp, line, use, warnings).parse();
}
