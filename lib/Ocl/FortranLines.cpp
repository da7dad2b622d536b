// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OclReader.h. A statement is only known to be complete when the next
// one begins, because fixed form marks a continuation on its second line; so
// the reader holds the open statement, and one open OCL line.

#include "Ocl/OclReader.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include <string>
#include <vector>

using namespace llvm;
using namespace mpg;

//===----------------------------------------------------------------------===//
// What the preprocessor leaves out
//===----------------------------------------------------------------------===//
//
// Which lines of a source the C preprocessor leaves out: #if, #ifdef, #elif,
// #else, #endif, #define and #undef.
//
// Files are not included, so a macro that only such a file defines counts as
// undefined. Macros with arguments count as 0.

namespace {

class Conditions {
public:
  void define(llvm::StringRef name, llvm::StringRef value);
  void undefine(llvm::StringRef name);

  /// \p text is a line without its '#'. What is no directive, or a wrong one,
  /// changes nothing: the compiler reports it.
  void addDirective(llvm::StringRef text);

  /// Whether the next line is part of the program.
  bool isActive() const { return groups.empty() || groups.back().active; }

private:
  struct Group {
    bool outerActive; ///< around the #if
    bool active;
    bool taken; ///< one of the branches was
  };

  void beginGroup(bool condition);
  void nextBranch(bool condition);
  bool isTrue(llvm::StringRef expression) const;

  llvm::StringMap<std::string> macros;
  std::vector<Group> groups;
};

} // namespace

namespace {

class Expression {
public:
  Expression(StringRef text, const StringMap<std::string> &macros)
      : text(text), macros(macros) {}

  int64_t value() { return binary(1); }

private:
  int64_t binary(unsigned least);
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
static constexpr unsigned deepest = 64;

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

bool Expression::eat(StringRef token) {
  text = text.ltrim();
  return text.consume_front(token);
}

StringRef Expression::word() {
  text = text.ltrim();
  StringRef found =
      text.take_while([](char c) { return isAlnum(c) || c == '_'; });
  text = text.drop_front(found.size());
  return found;
}

int64_t Expression::binary(unsigned least) {
  int64_t left = unary();
  for (;;) {
    const Operator *found = nullptr;
    text = text.ltrim();
    for (const Operator &candidate : operators)
      if (!found && text.starts_with(candidate.token))
        found = &candidate;
    if (!found || found->precedence < least)
      return left;
    eat(found->token);
    left = compute(found->token, left, binary(found->precedence + 1));
  }
}

bool Expression::isDefined() {
  bool inParentheses = eat("(");
  bool known = macros.count(word());
  if (inParentheses)
    eat(")");
  return known;
}

int64_t Expression::name() {
  StringRef found = word();
  if (found == "defined")
    return isDefined();
  // A macro may stand for another one.
  for (unsigned step = 0; step < deepest; ++step) {
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

int64_t Expression::unary() {
  if (++depth > deepest) {
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
  return Expression(expression, macros).value() != 0;
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

//===----------------------------------------------------------------------===//
// Statements and OCL lines
//===----------------------------------------------------------------------===//

namespace {

class LineReader {
public:
  explicit LineReader(const FortranOptions &options) : options(options) {
    for (const auto &[name, value] : options.macros)
      if (value)
        conditions.define(name, *value);
      else
        conditions.undefine(name);
  }

  void addLine(StringRef line);
  std::vector<FortranLine> finish();

private:
  void addFreeLine(StringRef line);
  void addFixedLine(StringRef line);
  bool addOclLine(StringRef line);
  void addText(StringRef line, size_t start);
  void append(FortranLine &target, char c, size_t offset);
  void endStatement();
  void endOcl();

  const FortranOptions &options;
  Conditions conditions;
  std::vector<FortranLine> lines;
  FortranLine statement, ocl;
  unsigned lineNumber = 0;
  char quote = 0;         ///< of the character literal that is open
  bool continued = false; ///< free form: the statement goes on
  bool oclContinued = false;
};

} // namespace

void LineReader::append(FortranLine &target, char c, size_t offset) {
  target.text += c;
  target.places.push_back({lineNumber, unsigned(offset + 1)});
}

static void moveTo(std::vector<FortranLine> &lines, FortranLine &line) {
  // Blanks at the end would count as lines of the statement.
  while (!line.text.empty() && isSpace(line.text.back())) {
    line.text.pop_back();
    line.places.pop_back();
  }
  if (!line.text.empty())
    lines.push_back(std::move(line));
  line = FortranLine();
}

void LineReader::endStatement() {
  moveTo(lines, statement);
  quote = 0;
  continued = false;
}

void LineReader::endOcl() {
  ocl.isOcl = true;
  moveTo(lines, ocl);
  oclContinued = false;
}

/// The offset after the OCL that makes \p line an OCL line; npos if it is
/// none.
static size_t findOcl(StringRef line, bool fixedForm) {
  size_t at = fixedForm ? 0 : line.find_first_not_of(" \t");
  if (at >= line.size() ||
      !StringRef(fixedForm ? "!Cc*" : "!").contains(line[at]))
    return StringRef::npos;
  ++at;
  // "C OCL" is an old way to write it.
  if (fixedForm)
    at = std::min(line.find_first_not_of(" ", at), line.size());
  if (!line.substr(at).starts_with_insensitive("ocl"))
    return StringRef::npos;
  at += 3;
  if (at < line.size() && line[at] != ' ' && line[at] != '\t' &&
      line[at] != '&')
    return StringRef::npos; // !OCLOCK is a comment
  return at;
}

bool LineReader::addOclLine(StringRef line) {
  size_t at = findOcl(line, options.fixedForm);
  if (at == StringRef::npos)
    return false;
  size_t first = line.find_first_not_of(" \t", at);
  bool marked = first != StringRef::npos && line[first] == '&';
  if (!oclContinued && !marked)
    endOcl();
  oclContinued = false;
  // Within a statement that goes on it still stands before the next one.
  for (size_t i = marked ? first + 1 : at; i < line.size(); ++i) {
    if (line[i] == '!')
      break;
    append(ocl, line[i], i);
  }
  size_t last = StringRef(ocl.text).find_last_not_of(" \t");
  if (last != StringRef::npos && ocl.text[last] == '&') {
    ocl.text[last] = ' ';
    oclContinued = true;
  }
  return true;
}

/// Adds what \p line says from \p start on to the statement: up to a comment,
/// and with statements ended by semicolons.
void LineReader::addText(StringRef line, size_t start) {
  for (size_t i = start; i < line.size(); ++i) {
    char c = line[i];
    if (quote) {
      if (c == quote)
        quote = 0;
    } else if (c == '!') {
      break;
    } else if (c == ';') {
      endStatement();
      continue;
    } else if (c == '\'' || c == '"') {
      quote = c;
    }
    append(statement, c, i);
  }
}

void LineReader::addFreeLine(StringRef line) {
  size_t first = line.find_first_not_of(" \t");
  // Comments and empty lines may stand within a statement.
  if (first == StringRef::npos || line[first] == '!')
    return;
  if (!continued)
    endStatement();
  bool marked = continued && line[first] == '&';
  continued = false;
  if (!marked && !statement.text.empty())
    append(statement, ' ', first); // a token ends with its line
  addText(line, marked ? first + 1 : first);
  size_t last = StringRef(statement.text).find_last_not_of(" \t");
  if (last == StringRef::npos || statement.text[last] != '&')
    return;
  statement.text.resize(last);
  statement.places.resize(last);
  continued = true;
}

void LineReader::addFixedLine(StringRef line) {
  if (options.fixedLineLength && line.size() > options.fixedLineLength)
    line = line.take_front(options.fixedLineLength);
  size_t first = line.find_first_not_of(" \t");
  if (first == StringRef::npos || StringRef("CcDd*!").contains(line[0]) ||
      (line[first] == '!' && first != 5))
    return;
  // A tab stands for the columns of the label.
  size_t tab = line.take_front(6).find('\t');
  size_t text = tab == StringRef::npos ? 6 : tab + 1;
  bool goesOn = false;
  if (tab == StringRef::npos)
    goesOn = line.size() > 5 && line[5] != ' ' && line[5] != '0';
  else if (text < line.size() && line[text] >= '1' && line[text] <= '9')
    goesOn = ++text;
  if (!goesOn)
    endStatement();
  addText(line, text);
}

void LineReader::addLine(StringRef line) {
  ++lineNumber;
  line = line.rtrim('\r');
  if (line.starts_with("#")) {
    conditions.addDirective(line.drop_front());
    return;
  }
  if (!conditions.isActive())
    return;
  StringRef kept = line;
  if (options.fixedForm && options.fixedLineLength)
    kept = line.take_front(options.fixedLineLength);
  if (findOcl(kept, options.fixedForm) != StringRef::npos) {
    // The statement before it is complete, unless it says that it goes on.
    if (!continued)
      endStatement();
    addOclLine(kept);
    return;
  }
  endOcl();
  if (options.fixedForm)
    addFixedLine(line);
  else
    addFreeLine(line);
}

std::vector<FortranLine> LineReader::finish() {
  endOcl();
  endStatement();
  return std::move(lines);
}

std::vector<FortranLine> mpg::readFortranLines(StringRef source,
                                               const FortranOptions &options) {
  LineReader reader(options);
  while (!source.empty()) {
    auto [line, rest] = source.split('\n');
    reader.addLine(line);
    source = rest;
  }
  return reader.finish();
}

static StringRef suffixOf(StringRef path) {
  StringRef suffix = sys::path::extension(path);
  suffix.consume_front(".");
  return suffix;
}

static bool isOneOf(StringRef suffix, ArrayRef<StringRef> known) {
  return is_contained(known, suffix);
}

bool mpg::hasFixedForm(StringRef path) {
  return isOneOf(suffixOf(path), {"f", "F", "for", "FOR", "fpp", "FPP"});
}

bool mpg::hasFreeForm(StringRef path) {
  return isOneOf(suffixOf(path),
                 {"f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08"});
}

bool mpg::isPreprocessed(StringRef path) {
  StringRef suffix = suffixOf(path);
  return !suffix.empty() && isUpper(suffix.front());
}
