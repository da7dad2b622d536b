// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OclReader.h.

#include "Ocl/OclReader.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

namespace {

class ConditionExpression {
public:
  ConditionExpression(StringRef text, const StringMap<std::string> &macros)
      : text(text), macros(macros) {}

  int64_t value() { return binary(1); }

private:
  int64_t binary(unsigned min);
  int64_t unary();
  int64_t name();
  bool isDefined();
  bool eat(StringRef token);
  StringRef word();

  StringRef text;
  const StringMap<std::string> &macros;
  unsigned depth = 0;
};

struct Operator {
  const char *token;
  unsigned precedence;
};

} // namespace

/// No expression of a real program is deeper; a damaged file may be.
static constexpr unsigned maxDepth = 64;

// Longer tokens first, so that "<=" is not read as "<".
static const Operator operators[] = {
    {"||", 1}, {"&&", 2}, {"==", 3}, {"!=", 3}, {"<=", 4}, {">=", 4},
    {"<", 4},  {">", 4},  {"+", 5},  {"-", 5},  {"*", 6},
};

static int64_t compute(StringRef token, int64_t a, int64_t b) {
  if (token == "||")
    return a || b;
  if (token == "&&")
    return a && b;
  if (token == "==")
    return a == b;
  if (token == "!=")
    return a != b;
  if (token == "<=")
    return a <= b;
  if (token == ">=")
    return a >= b;
  if (token == "<")
    return a < b;
  if (token == ">")
    return a > b;
  // Wraps instead of overflowing.
  if (token == "+")
    return int64_t(uint64_t(a) + uint64_t(b));
  if (token == "-")
    return int64_t(uint64_t(a) - uint64_t(b));
  return int64_t(uint64_t(a) * uint64_t(b));
}

bool ConditionExpression::eat(StringRef token) {
  text = text.ltrim();
  return text.consume_front(token);
}

StringRef ConditionExpression::word() {
  text = text.ltrim();
  StringRef found =
      text.take_while([](char c) { return isAlnum(c) || c == '_'; });
  text = text.drop_front(found.size());
  return found;
}

int64_t ConditionExpression::binary(unsigned min) {
  int64_t left = unary();
  for (;;) {
    const Operator *found = nullptr;
    text = text.ltrim();
    for (const Operator &candidate : operators)
      if (!found && text.starts_with(candidate.token))
        found = &candidate;
    if (!found || found->precedence < min)
      return left;
    eat(found->token);
    left = compute(found->token, left, binary(found->precedence + 1));
  }
}

bool ConditionExpression::isDefined() {
  bool inParentheses = eat("(");
  bool known = macros.count(word());
  if (inParentheses)
    eat(")");
  return known;
}

int64_t ConditionExpression::name() {
  StringRef found = word();
  if (found == "defined")
    return isDefined();
  // A macro may stand for another one.
  for (unsigned step = 0; step < maxDepth; ++step) {
    int64_t number;
    StringRef digits = found.rtrim("uUlL");
    if (!digits.getAsInteger(0, number))
      return number;
    auto macro = macros.find(found);
    if (macro == macros.end())
      return 0;
    found = StringRef(macro->second).trim();
  }
  return 0;
}

int64_t ConditionExpression::unary() {
  if (++depth > maxDepth) {
    text = "";
    return 0;
  }
  int64_t value;
  if (eat("!"))
    value = !unary();
  else if (eat("-"))
    value = int64_t(0 - uint64_t(unary()));
  else if (eat("(")) {
    value = binary(1);
    eat(")");
  } else
    value = name();
  --depth;
  return value;
}

bool Conditions::isTrue(StringRef expression) const {
  return ConditionExpression(expression, macros).value() != 0;
}

void Conditions::define(StringRef name, StringRef value) {
  macros[name] = value.str();
}

void Conditions::undefine(StringRef name) { macros.erase(name); }

void Conditions::beginGroup(bool condition) {
  bool outer = isActive();
  groups.push_back({outer, outer && condition, condition});
}

void Conditions::nextBranch(bool condition) {
  if (groups.empty())
    return;
  Group &group = groups.back();
  group.active = group.outerActive && !group.taken && condition;
  group.taken |= condition;
}

void Conditions::addDirective(StringRef text) {
  text = text.trim();
  StringRef word = text.take_while(isAlpha);
  StringRef rest = text.drop_front(word.size()).trim();
  StringRef name =
      rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
  if (word == "if")
    beginGroup(isTrue(rest));
  else if (word == "ifdef")
    beginGroup(macros.count(name));
  else if (word == "ifndef")
    beginGroup(!macros.count(name));
  else if (word == "elif")
    nextBranch(isTrue(rest));
  else if (word == "else")
    nextBranch(true);
  else if (word == "endif" && !groups.empty())
    groups.pop_back();
  else if (word == "define" && isActive())
    define(name, rest.drop_front(name.size()).trim());
  else if (word == "undef" && isActive())
    undefine(name);
}
