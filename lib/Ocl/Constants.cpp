// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramUnits.h.

#include "Ocl/ProgramUnits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

// Expressions

namespace {

class ConstantExpression {
public:
  ConstantExpression(StringRef text, const Constants &constants)
      : text(text), constants(constants) {}

  std::optional<int64_t> value() {
    int64_t result = sum();
    return isGood && text.trim().empty() ? std::optional(result) : std::nullopt;
  }

private:
  int64_t sum();
  int64_t product();
  int64_t power();
  int64_t primary();
  bool eat(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  /// Computes \p left with the operand on its right, or notes that it does not
  /// fit.
  template <typename Function>
  void compute(int64_t &left, Function function, int64_t right) {
    int64_t result = 0;
    isGood &= !function(left, right, result);
    left = result;
  }

  StringRef text;
  const Constants &constants;
  unsigned depth = 0;
  bool isGood = true;
};

} // namespace

/// No expression of a real program is deeper; a damaged file may be.
static constexpr unsigned maxNesting = 64;

int64_t ConstantExpression::sum() {
  if (++depth > maxNesting)
    isGood = false;
  bool isNegative = eat("-");
  if (!isNegative)
    eat("+");
  int64_t left = isGood ? product() : 0;
  if (isNegative)
    compute(left, MulOverflow<int64_t>, -1);
  while (isGood) {
    if (eat("+"))
      compute(left, AddOverflow<int64_t>, product());
    else if (eat("-"))
      compute(left, SubOverflow<int64_t>, product());
    else
      break;
  }
  --depth;
  return left;
}

int64_t ConstantExpression::product() {
  int64_t left = power();
  while (isGood) {
    if (eat("*")) {
      compute(left, MulOverflow<int64_t>, power());
    } else if (eat("/")) {
      int64_t right = power();
      // Compilers refuse a division by zero; one by -1 may not fit.
      isGood &= right != 0 && right != -1;
      left = isGood ? left / right : 0;
    } else {
      break;
    }
  }
  return left;
}

int64_t ConstantExpression::power() {
  int64_t base = primary();
  if (!isGood || !eat("**"))
    return base;
  if (++depth > maxNesting)
    isGood = false;
  int64_t exponent = isGood ? power() : 0, result = 1;
  --depth;
  // More than 63 fits for no base that anybody raises.
  isGood &= exponent >= 0 && exponent < 64;
  for (int64_t i = 0; isGood && i < exponent; ++i)
    compute(result, MulOverflow<int64_t>, base);
  return result;
}

int64_t ConstantExpression::primary() {
  if (eat("(")) {
    int64_t inside = sum();
    isGood &= eat(")");
    return inside;
  }
  text = text.ltrim();
  StringRef word = text.take_while(isWordCharacter);
  text = text.drop_front(word.size());
  // 4_int32 has a kind.
  StringRef digits = word.take_while(isDigit);
  int64_t number = 0;
  if (!digits.empty()) {
    StringRef kind = word.drop_front(digits.size());
    isGood &= !digits.getAsInteger(10, number) &&
              (kind.empty() || kind.front() == '_');
    return number;
  }
  auto found = constants.find(word.lower());
  isGood &= found != constants.end() && found->second;
  return isGood ? *found->second : 0;
}

std::optional<int64_t> mpg::evaluate(StringRef expression,
                                     const Constants &constants) {
  return ConstantExpression(expression, constants).value();
}

// Declarations

size_t mpg::findOutside(StringRef text, StringRef token) {
  unsigned depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (depth == 0 && text.substr(i).starts_with(token))
      return i;
    else if (c == '(')
      ++depth;
    else if (c == ')' && depth)
      --depth;
  }
  return text.size();
}

/// Splits \p text at the commas outside of parentheses and character literals.
static SmallVector<StringRef, 4> splitList(StringRef text) {
  SmallVector<StringRef, 4> items;
  for (;;) {
    size_t comma = findOutside(text, ",");
    items.push_back(text.take_front(comma));
    if (comma == text.size())
      return items;
    text = text.drop_front(comma + 1);
  }
}

/// `name = value` of each item; nothing of arrays.
static void addValues(StringRef list, Constants &constants) {
  for (StringRef item : splitList(list)) {
    auto [name, value] = item.split('=');
    if (!name.empty() && all_of(name, isWordCharacter))
      constants[name] = evaluate(value, constants);
  }
}

/// use m, only: a, b => c. What \p statement begins with is gone already.
static void addUsed(StringRef statement, const StringMap<Constants> &modules,
                    Constants &constants) {
  // use, non_intrinsic :: m
  size_t colons = statement.find("::");
  if (colons != StringRef::npos)
    statement = statement.drop_front(colons + 2);
  auto [module, list] = statement.split(',');
  auto found = modules.find(module);
  if (found == modules.end())
    return;
  const Constants &all = found->second;
  bool isOnly = list.consume_front("only:");
  if (!isOnly)
    for (const auto &constant : all)
      constants[constant.first()] = constant.second;
  for (StringRef item : splitList(list)) {
    auto [name, original] = item.split("=>");
    bool isRenamed = item.contains("=>");
    auto value = all.find(isRenamed ? original : name);
    if (value == all.end())
      continue;
    if (isRenamed && !isOnly)
      constants.erase(original);
    constants[name] = value->second;
  }
}

void mpg::addDeclarations(StringRef statement,
                          const StringMap<Constants> &modules,
                          Constants &constants) {
  static const StringRef types[] = {
      "integer", "real", "doubleprecision", "complex",  "logical", "character",
      "byte",    "type", "class",           "dimension"};
  StringRef rest = statement;
  if (rest.consume_front("use"))
    return addUsed(rest, modules, constants);
  if (rest.consume_front("parameter(") && rest.consume_back(")"))
    return addValues(rest, constants);
  const StringRef *type =
      find_if(types, [&](StringRef t) { return rest.starts_with(t); });
  if (type == std::end(types))
    return;
  size_t colons = findOutside(rest, "::");
  StringRef attributes = rest.take_front(colons);
  if (*type == "integer" && is_contained(splitList(attributes), "parameter"))
    return addValues(rest.substr(colons + 2), constants);
  // Without colons the name follows the type and its kind.
  rest = colons < rest.size()
             ? rest.drop_front(colons + 2)
             : rest.drop_front(type->size()).ltrim("*0123456789");
  if (rest.starts_with("("))
    rest = rest.substr(findOutside(rest.drop_front(), ")") + 2);
  for (StringRef item : splitList(rest))
    constants[item.take_while(isWordCharacter)] = std::nullopt;
}
