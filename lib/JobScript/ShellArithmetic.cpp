// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// $((..)) as far as job scripts need it. What is not plainly a number, or does
// not fit 64 bits, has no value here: bash would wrap around, or read a leading
// 0 as octal, and that is a case for naming it, not for arithmetic.

#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

namespace {

class Arithmetic {
public:
  Arithmetic(StringRef text, const ShellVariables &variables)
      : text(text), variables(variables) {}

  std::optional<int64_t> run() {
    std::optional<int64_t> value = readSum(0);
    skipBlanks();
    return text.empty() ? value : std::nullopt;
  }

private:
  using Value = std::optional<int64_t>;
  static constexpr unsigned deepest = 32;

  void skipBlanks() { text = text.ltrim(" \t\n"); }
  /// One of \p operators, taken away; '\0' if the next one is another.
  char takeOperator(StringRef operators);
  Value readSum(unsigned depth);
  Value readProduct(unsigned depth);
  Value readOperand(unsigned depth);
  Value readName(bool withDollar);

  StringRef text;
  const ShellVariables &variables;
};

} // namespace

static std::optional<int64_t> plainNumber(StringRef digits) {
  int64_t value;
  // A leading 0 makes it octal.
  bool octal = digits.size() > 1 && digits[0] == '0';
  if (digits.empty() || !isDigit(digits[0]) || octal ||
      digits.getAsInteger(10, value))
    return std::nullopt;
  return value;
}

char Arithmetic::takeOperator(StringRef operators) {
  skipBlanks();
  if (text.empty() || !operators.contains(text[0]))
    return '\0';
  // Not ** ++ -- += and the like.
  if (text.size() > 1 && (text[1] == text[0] || text[1] == '='))
    return '\0';
  char taken = text[0];
  text = text.drop_front();
  return taken;
}

Arithmetic::Value Arithmetic::readSum(unsigned depth) {
  Value sum = readProduct(depth);
  while (char sign = takeOperator("+-")) {
    Value operand = readProduct(depth);
    int64_t result;
    if (!sum || !operand ||
        (sign == '+' ? AddOverflow(*sum, *operand, result)
                     : SubOverflow(*sum, *operand, result)))
      return std::nullopt;
    sum = result;
  }
  return sum;
}

Arithmetic::Value Arithmetic::readProduct(unsigned depth) {
  Value product = readOperand(depth);
  while (char sign = takeOperator("*/%")) {
    Value operand = readOperand(depth);
    int64_t result;
    if (!product || !operand)
      return std::nullopt;
    if (sign == '*') {
      if (MulOverflow(*product, *operand, result))
        return std::nullopt;
    } else {
      if (*operand == 0 || *operand == -1) // -1: the least number overflows
        return std::nullopt;
      result = sign == '/' ? *product / *operand : *product % *operand;
    }
    product = result;
  }
  return product;
}

Arithmetic::Value Arithmetic::readName(bool withDollar) {
  bool braced = withDollar && text.consume_front("{");
  size_t length = shellNameLength(text);
  StringRef name = text.take_front(length);
  text = text.drop_front(length);
  if (name.empty() || (braced && !text.consume_front("}")) ||
      isDynamicVariable(name))
    return std::nullopt;
  const ShellVariable *variable = variables.find(name);
  if (!variable || (variable->set && !variable->value.known()))
    return std::nullopt;
  StringRef value = variable->set ? variable->value.str() : "";
  // "$A" of an empty A is nothing, and so may make another expression.
  if (value.empty())
    return withDollar ? Value() : 0;
  if (!withDollar && value.consume_front("-")) {
    Value number = plainNumber(value);
    return number ? Value(-*number) : number;
  }
  return plainNumber(value);
}

Arithmetic::Value Arithmetic::readOperand(unsigned depth) {
  char sign = takeOperator("+-");
  skipBlanks();
  if (depth >= deepest || text.empty())
    return std::nullopt;
  Value value;
  if (text.consume_front("(")) {
    value = readSum(depth + 1);
    skipBlanks();
    if (!text.consume_front(")"))
      return std::nullopt;
  } else if (isDigit(text[0])) {
    size_t length = text.find_if_not(isAlnum);
    value = plainNumber(text.take_front(length));
    text = text.substr(length);
  } else {
    value = readName(text.consume_front("$"));
  }
  if (sign == '-' && value) {
    int64_t result;
    if (SubOverflow(int64_t(0), *value, result))
      return std::nullopt;
    return result;
  }
  return value;
}

std::optional<int64_t>
mpg::evaluateShellArithmetic(StringRef expression,
                             const ShellVariables &variables) {
  return Arithmetic(expression, variables).run();
}
