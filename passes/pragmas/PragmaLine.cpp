// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One cursor walks along the tokens of a line; a function
// that finds a wrong one reports it and returns nothing, so an error is
// reported once.

#include "PragmaLine.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;
using namespace mpg;

/// Ways of the L1 cache of a core (HW:a64fx-l1d-way), and of the L2 cache of a
/// core memory group that a program can have (HW:a64fx-l2-ways-job).
static constexpr int l1Ways = 4, l2Ways = 14;

namespace {
class LineCursor {
public:
  LineCursor(Preprocessor &pp, ArrayRef<Token> line) : pp(pp), line(line) {}

  const Token &peek() const { return line.front(); }
  bool atEnd() const { return peek().is(tok::eod); }

  Token take() {
    Token token = peek();
    if (!atEnd())
      line = line.drop_front();
    return token;
  }

  bool takeIf(tok::TokenKind kind) {
    if (peek().isNot(kind))
      return false;
    take();
    return true;
  }

  /// An error at the next token.
  DiagnosticBuilder error(StringRef text) const {
    return reportError(pp, peek().getLocation(), text);
  }

  Preprocessor &pp;

private:
  ArrayRef<Token> line;
};

struct Number {
  int value;
  SourceLocation where;
};
} // namespace

std::string RequestedWays::text() const {
  std::string text;
  if (l2)
    text = "l2=" + llvm::utostr(*l2);
  if (l1)
    text += (text.empty() ? "l1=" : ",l1=") + llvm::utostr(*l1);
  return text;
}

TokenList mpg::readLine(Preprocessor &pp, LineForm form) {
  TokenList line;
  do {
    // A program may well have a macro of the name L2.
    bool expanded = form == LineForm::pairs || form == LineForm::names;
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

/// [-+]n, or the same in parentheses, as macros have it.
static std::optional<Number> parseNumber(LineCursor &cursor) {
  SourceLocation where = cursor.peek().getLocation();
  unsigned open = 0;
  while (cursor.takeIf(tok::l_paren))
    ++open;
  bool negative = cursor.peek().is(tok::minus);
  if (negative || cursor.peek().is(tok::plus))
    cursor.take();
  int value = 0;
  if (cursor.peek().isNot(tok::numeric_constant) ||
      StringRef(cursor.pp.getSpelling(cursor.peek())).getAsInteger(0, value)) {
    cursor.error("expected a number of cache ways");
    return std::nullopt;
  }
  cursor.take();
  for (; open != 0; --open)
    if (!cursor.takeIf(tok::r_paren)) {
      cursor.error("expected ')'");
      return std::nullopt;
    }
  return Number{negative ? -value : value, where};
}

/// Whether \p ways is below 0, which makes the whole directive void.
static bool isNegative(Preprocessor &pp, const Number &ways) {
  if (ways.value < 0)
    reportWarning(pp, ways.where,
                  "%0 cache ways are less than none; the directive is ignored")
        << ways.value;
  return ways.value < 0;
}

static std::optional<RequestedWays> parseLevels(LineCursor &cursor) {
  RequestedWays ways;
  bool ignored = false;
  do {
    StringRef name;
    if (const IdentifierInfo *word = cursor.peek().getIdentifierInfo())
      name = word->getName();
    if (name != "L1" && name != "L2") {
      cursor.error("expected 'L2=' or 'L1=' and a number of cache ways");
      return std::nullopt;
    }
    bool isL1 = name == "L1";
    std::optional<unsigned> &level = isL1 ? ways.l1 : ways.l2;
    if (level) {
      cursor.error("'%0' is given twice") << name;
      return std::nullopt;
    }
    cursor.take();
    if (!cursor.takeIf(tok::equal)) {
      cursor.error("expected '=' after '%0'") << name;
      return std::nullopt;
    }
    std::optional<Number> number = parseNumber(cursor);
    if (!number)
      return std::nullopt;
    int limit = isL1 ? l1Ways : l2Ways;
    ignored |= isNegative(cursor.pp, *number);
    if (number->value > limit)
      reportWarning(cursor.pp, number->where,
                    "a program has %1 ways of the %2 cache, not %0; taken as "
                    "%1")
          << number->value << limit << name;
    level = unsigned(std::clamp(number->value, 0, limit));
  } while (!cursor.atEnd());
  return ignored ? RequestedWays() : ways;
}

/// Ways of sector 1 of a pair. Programs for the machines before A64FX have
/// pairs for caches of 12, 16 or 24 ways.
static unsigned waysOfPair(Preprocessor &pp, StringRef level, int limit,
                           const Number &sector0, const Number &sector1) {
  int ways = std::min(sector1.value, limit);
  if (int64_t(sector0.value) + sector1.value != limit)
    reportWarning(pp, sector0.where,
                  "%0 and %1 ways of the %2 cache are not the %3 that a "
                  "program has; sector 1 gets %4 and sector 0 the other %5")
        << sector0.value << sector1.value << level << limit << ways
        << limit - ways;
  return unsigned(ways);
}

static std::optional<RequestedWays> parsePairs(LineCursor &cursor) {
  bool parentheses = cursor.takeIf(tok::l_paren);
  llvm::SmallVector<Number, 4> numbers;
  do {
    std::optional<Number> number = parseNumber(cursor);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
    if (cursor.takeIf(tok::comma))
      continue;
    if (parentheses || cursor.atEnd())
      break;
  } while (numbers.size() < 4);
  if (parentheses && cursor.peek().isNot(tok::r_paren)) {
    cursor.error("expected ',' or ')'");
    return std::nullopt;
  }
  if (numbers.size() != 2 && numbers.size() != 4) {
    cursor.error("expected 2 numbers of cache ways, of sectors 0 and 1 of L2, "
                 "or 4, those of L1 before them");
    return std::nullopt;
  }
  if (parentheses)
    cursor.take();
  if (!cursor.atEnd()) {
    cursor.error("unexpected word after the numbers of cache ways");
    return std::nullopt;
  }
  for (const Number &number : numbers)
    if (isNegative(cursor.pp, number))
      return RequestedWays();
  RequestedWays ways;
  if (numbers.size() == 4)
    ways.l1 = waysOfPair(cursor.pp, "L1", l1Ways, numbers[0], numbers[1]);
  ways.l2 = waysOfPair(cursor.pp, "L2", l2Ways, numbers[numbers.size() - 2],
                       numbers.back());
  return ways;
}

std::optional<RequestedWays> mpg::parseWays(Preprocessor &pp, LineForm form,
                                            ArrayRef<Token> line) {
  LineCursor cursor(pp, line);
  return form == LineForm::levels ? parseLevels(cursor) : parsePairs(cursor);
}

TokenList mpg::parseNames(Preprocessor &pp, ArrayRef<Token> line) {
  LineCursor cursor(pp, line);
  bool parentheses = cursor.takeIf(tok::l_paren);
  TokenList names;
  do {
    if (cursor.peek().isNot(tok::identifier)) {
      cursor.error("expected the name of an array or a pointer");
      return {};
    }
    names.push_back(cursor.take());
  } while (cursor.takeIf(tok::comma));
  if (parentheses && !cursor.takeIf(tok::r_paren)) {
    cursor.error("expected ',' or ')'");
    return {};
  }
  if (!cursor.atEnd()) {
    cursor.error(parentheses ? "unexpected word after ')'"
                             : "expected ',' or the end of the line");
    return {};
  }
  return names;
}

void mpg::parseNothing(Preprocessor &pp, ArrayRef<Token> line) {
  LineCursor cursor(pp, line);
  if (!cursor.atEnd())
    cursor.error("unexpected word after a directive that takes none");
}
