// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ShellExpand.h: values that are known in part, and the variables that hold
// them.

#include "JobScript/ShellExpand.h"
#include "JobScript/ShellLexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mpg;

ShellValue ShellValue::notKnown(StringRef written) {
  ShellValue value;
  value.addUnknown(written);
  return value;
}

void ShellValue::addUnknown(StringRef written) {
  unknown.push_back({text.size(), text.size() + written.size()});
  text += written;
}

void ShellValue::add(const ShellValue &value) {
  for (const Part &part : value.unknown)
    unknown.push_back({text.size() + part.begin, text.size() + part.end});
  text += value.text;
}

size_t ShellValue::endOfUnknown(size_t at) const {
  auto part = partition_point(
      unknown, [at](const Part &part) { return part.end <= at; });
  return part != unknown.end() && part->begin <= at ? part->end : at;
}

ShellValue ShellValue::slice(size_t begin, size_t end) const {
  ShellValue value(StringRef(text).slice(begin, end));
  auto part = partition_point(
      unknown, [begin](const Part &part) { return part.begin < begin; });
  for (; part != unknown.end() && part->end <= end; ++part)
    value.unknown.push_back({part->begin - begin, part->end - begin});
  return value;
}

JobWord ShellValue::word() const {
  JobWord word;
  word.text = text;
  std::vector<StringRef> names;
  for (const Part &part : unknown) {
    StringRef name = StringRef(text).slice(part.begin, part.end);
    // A few of them say enough; a word may hold thousands.
    if (names.size() < 8 && !is_contained(names, name))
      names.push_back(name);
  }
  for (StringRef name : names)
    word.unknown += (word.unknown.empty() ? "" : ", ") + name.str();
  return word;
}

std::vector<JobWord> ShellValue::split(char separator) const {
  std::vector<JobWord> parts;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    while (endOfUnknown(at) > at)
      at = endOfUnknown(at);
    if (at < text.size() && text[at] != separator)
      continue;
    parts.push_back(slice(begin, at).word());
    begin = at + 1;
  }
  return parts;
}

const ShellVariable *ShellVariables::find(StringRef name) const {
  auto at = variables.find(name);
  return at == variables.end() ? nullptr : &at->second;
}

void ShellVariables::store(StringRef name, ShellVariable variable) {
  auto [at, isNew] = variables.try_emplace(name);
  Change change{name.str(), std::nullopt};
  if (!isNew)
    change.before = std::move(at->second);
  at->second = std::move(variable);
  changes.push_back(std::move(change));
}

void ShellVariables::setValue(StringRef name, ShellValue value, unsigned line) {
  ShellVariable variable;
  if (const ShellVariable *before = find(name)) {
    if (before->readOnly)
      return; // the shell reports it and goes on
    variable.exported = before->exported;
  }
  variable.value = std::move(value);
  variable.line = line;
  store(name, std::move(variable));
}

void ShellVariables::forget(StringRef name, unsigned line) {
  ShellVariable variable;
  if (const ShellVariable *before = find(name)) {
    if (before->readOnly)
      return;
    variable.exported = before->exported;
  }
  variable.value = ShellValue::notKnown("$" + name.str());
  variable.certain = false;
  variable.line = line;
  store(name, std::move(variable));
}

void ShellVariables::restore(StringRef name,
                             std::optional<ShellVariable> before) {
  if (before)
    return store(name, std::move(*before));
  auto at = variables.find(name);
  if (at == variables.end())
    return;
  changes.push_back({name.str(), std::move(at->second)});
  variables.erase(at);
}

void ShellVariables::undo(Mark mark) {
  while (changes.size() > mark) {
    Change &change = changes.back();
    if (change.before)
      variables[change.name] = std::move(*change.before);
    else
      variables.erase(change.name);
    changes.pop_back();
  }
}

StringMap<ShellVariable> ShellVariables::changedSince(Mark mark) const {
  StringMap<ShellVariable> changed;
  for (size_t i = mark; i < changes.size(); ++i)
    if (const ShellVariable *now = find(changes[i].name))
      changed.try_emplace(changes[i].name, *now);
  return changed;
}

/// True if both have the same known value.
static bool agree(const ShellVariable &a, const ShellVariable &b) {
  if (a.set != b.set || a.exported != b.exported || a.readOnly != b.readOnly)
    return false;
  return !a.set || a.value.isSame(b.value);
}

void ShellBranches::endBranch(bool reached) {
  StringMap<ShellVariable> changed = variables.changedSince(start);
  variables.undo(start);
  if (!reached)
    return;
  ++branches;
  for (auto &entry : changed) {
    auto [at, isNew] = outcomes.try_emplace(entry.first());
    Outcome &outcome = at->second;
    if (isNew) {
      outcome.variable = std::move(entry.second);
      continue;
    }
    ++outcome.branches;
    outcome.same = outcome.same && agree(outcome.variable, entry.second);
    outcome.variable.exported |= entry.second.exported;
    outcome.variable.line = entry.second.line;
  }
}

void ShellBranches::merge(bool complete) {
  unsigned all = branches + (complete ? 0 : 1);
  for (auto &entry : outcomes) {
    Outcome &outcome = entry.second;
    ShellVariable after = outcome.variable;
    const ShellVariable *before = variables.find(entry.first());
    bool same = outcome.same;
    if (outcome.branches < all) {
      same = same && before && agree(after, *before);
      after.exported |= before && before->exported;
    }
    if (!same) {
      after.value = ShellValue::notKnown("$" + entry.first().str());
      after.set = true;
      after.certain = false;
      after.readOnly = false;
    }
    variables.store(entry.first(), std::move(after));
  }
}

void ShellBranches::mergeAsUnknown() {
  for (auto &entry : outcomes)
    entry.second.same = false;
  merge(/*complete=*/true);
}

// Arithmetic. $((..)) as far as job scripts need it. Text that is not plainly a
// number, or does not fit 64 bits, has no value here. bash would wrap around,
// or read a leading 0 as octal: that is worth a message, not arithmetic.

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
  char consumeOperator(StringRef operators);
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

char Arithmetic::consumeOperator(StringRef operators) {
  skipBlanks();
  if (text.empty() || !operators.contains(text[0]))
    return '\0';
  // Not operators like ** ++ -- +=.
  if (text.size() > 1 && (text[1] == text[0] || text[1] == '='))
    return '\0';
  char taken = text[0];
  text = text.drop_front();
  return taken;
}

Arithmetic::Value Arithmetic::readSum(unsigned depth) {
  Value sum = readProduct(depth);
  while (char sign = consumeOperator("+-")) {
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
  while (char sign = consumeOperator("*/%")) {
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
  char sign = consumeOperator("+-");
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
