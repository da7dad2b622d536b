// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses one !OCL line: the directives about the sector cache, zero fill and
// prefetch, and the contents of their parentheses. Skips all other directives
// of Fujitsu's by name. ProgramUnits.h declares the result.

#include "Ocl/ProgramUnits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace mpg;

// Ways that sector 0 and sector 1 share. HW:a64fx-l1d-way, HW:a64fx-l2-ways-job
static constexpr int64_t l1Limit = 4, l2Limit = 14;
/// ZFILL without a number of lines: the same as zfillDefaultLines of the
/// passes.
static constexpr unsigned defaultLines = 18;

namespace {

struct Name {
  const char *name;
  OclForm form;
  bool isEnd;
};

/// Reads one line; an error ends the directive, not the line.
class Parser {
public:
  Parser(StringRef text, const Constants &constants)
      : text(text), constants(constants) {}

  OclLine read();

private:
  void readDirective(StringRef name, size_t offset);
  void readArguments(OclDirective &directive, StringRef inside, size_t offset);
  void readWays(OclDirective &directive, StringRef inside, size_t offset);
  void readSectorSizes(OclDirective &directive, StringRef inside,
                       size_t offset);
  void readArrays(OclDirective &directive, StringRef inside, size_t offset);
  void readLines(OclDirective &directive, StringRef inside, size_t offset);
  void readMode(OclDirective &directive, StringRef inside, size_t offset);
  std::optional<OclWays> readNumber(OclDirective &directive, StringRef word,
                                    size_t offset, StringRef cache,
                                    int64_t limit);
  void skipBlanks();
  StringRef readWord();
  std::optional<StringRef> readParentheses();
  void warn(size_t offset, const Twine &problem);
  void refuse(OclDirective &directive, size_t offset, const Twine &problem);

  StringRef text;
  const Constants &constants;
  size_t at = 0;
  OclLine line;
};

} // namespace

static const Name names[] = {
    {"SCACHE_ISOLATE_WAY", OclForm::isolateWay, false},
    {"END_SCACHE_ISOLATE_WAY", OclForm::isolateWay, true},
    {"SCACHE_ISOLATE_ASSIGN", OclForm::isolateAssign, false},
    {"END_SCACHE_ISOLATE_ASSIGN", OclForm::isolateAssign, true},
    {"CACHE_SECTOR_SIZE", OclForm::sectorSize, false},
    {"END_CACHE_SECTOR_SIZE", OclForm::sectorSize, true},
    {"CACHE_SUBSECTOR_ASSIGN", OclForm::subsectorAssign, false},
    {"END_CACHE_SUBSECTOR", OclForm::subsectorAssign, true},
    {"ZFILL", OclForm::zfill, false},
    {"NOZFILL", OclForm::noZfill, false},
    {"PREFETCH", OclForm::prefetch, false},
    {"PREFETCH_SEQUENTIAL", OclForm::prefetchSequential, false},
    {"NOPREFETCH", OclForm::noPrefetch, false},
    {"PREFETCH_LINE", OclForm::prefetchLine, false},
    {"PREFETCH_LINE_L2", OclForm::prefetchLineL2, false},
};

static StringRef getName(OclForm form, bool isEnd) {
  for (const Name &name : names)
    if (name.form == form && name.isEnd == isEnd)
      return name.name;
  return "";
}

StringRef mpg::oclName(OclForm form) { return getName(form, false); }
StringRef mpg::oclEndName(OclForm form) { return getName(form, true); }

static bool isNameCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$';
}

void Parser::warn(size_t offset, const Twine &problem) {
  line.problems.push_back({offset, problem.str()});
}

void Parser::refuse(OclDirective &directive, size_t offset,
                    const Twine &problem) {
  directive.isWrong = true;
  warn(offset, problem + "; " + getName(directive.form, directive.isEnd) +
                   " is ignored" +
                   (namesArrays(directive.form) || isAboutLoop(directive.form)
                        ? ""
                        : ", and tags there have no effect without ways from "
                          "elsewhere"));
}

void Parser::skipBlanks() {
  while (at < text.size() && isSpace(text[at]))
    ++at;
}

StringRef Parser::readWord() {
  StringRef word = text.substr(at).take_while(isNameCharacter);
  at += word.size();
  return word;
}

/// The text between the parenthesis at the place and its partner. Without a
/// partner there is none, and the rest of the line is skipped.
std::optional<StringRef> Parser::readParentheses() {
  size_t start = ++at, depth = 1;
  for (; at < text.size(); ++at) {
    depth += text[at] == '(';
    depth -= text[at] == ')';
    if (depth == 0)
      return text.slice(start, at++);
  }
  return std::nullopt;
}

/// Splits at the commas, and gives each item without blanks around it and with
/// its offset.
static std::vector<std::pair<StringRef, size_t>> splitItems(StringRef inside,
                                                            size_t offset) {
  std::vector<std::pair<StringRef, size_t>> items;
  for (;;) {
    size_t comma = inside.find(',');
    StringRef item = inside.take_front(comma);
    size_t blanks = item.size() - item.ltrim().size();
    items.push_back({item.trim(), offset + blanks});
    if (comma == StringRef::npos)
      return items;
    inside = inside.drop_front(comma + 1);
    offset += comma + 1;
  }
}

static bool isName(StringRef word) {
  return !word.empty() && isAlpha(word.front()) &&
         all_of(word, isNameCharacter);
}

/// A number of ways of \p cache, not more than it has, or the variable that
/// has it; nothing if it is neither.
std::optional<OclWays> Parser::readNumber(OclDirective &directive,
                                          StringRef word, size_t offset,
                                          StringRef cache, int64_t limit) {
  bool isNumber = !word.empty() && all_of(word, isDigit);
  std::optional<int64_t> value = evaluate(word, constants);
  if (!value && isNumber)
    value = INT64_MAX; // one that does not fit is too large in any case
  if (!value && isName(word))
    return OclWays{0, word.lower()};
  std::string shown = ("'" + word + "'").str();
  if (!value) {
    refuse(directive, offset,
           shown + " is not a number of ways; write 0 to " + Twine(limit) +
               ", a constant or a variable");
    return std::nullopt;
  }
  if (!all_of(word, [](char c) { return isDigit(c) || c == '-'; }))
    shown += " (" + itostr(*value) + ")";
  if (*value < 0) {
    refuse(directive, offset,
           shown + " ways are less than none; write 0 to " + Twine(limit));
    return std::nullopt;
  }
  if (*value > limit) {
    warn(offset, shown + " is more than the " + Twine(limit) + " ways of the " +
                     cache + " cache; " + Twine(limit) + " are taken");
    return OclWays{unsigned(limit), ""};
  }
  return OclWays{unsigned(*value), ""};
}

void Parser::readWays(OclDirective &directive, StringRef inside,
                      size_t offset) {
  for (auto [item, itemOffset] : splitItems(inside, offset)) {
    auto [key, value] = item.split('=');
    size_t valueOffset = itemOffset + key.size() + 1;
    valueOffset += value.size() - value.ltrim().size();
    key = key.trim();
    bool isL1 = key.equals_insensitive("L1");
    if ((!isL1 && !key.equals_insensitive("L2")) || !item.contains('='))
      return refuse(directive, itemOffset,
                    "expected L2=0 to 14 or L1=0 to 4, not '" + item + "'");
    std::optional<OclWays> &ways = isL1 ? directive.l1Ways : directive.l2Ways;
    if (ways)
      return refuse(directive, itemOffset,
                    (isL1 ? "L1" : "L2") + Twine(" is there twice"));
    ways = readNumber(directive, value.trim(), valueOffset, isL1 ? "L1" : "L2",
                      isL1 ? l1Limit : l2Limit);
    if (!ways)
      return;
  }
}

void Parser::readSectorSizes(OclDirective &directive, StringRef inside,
                             size_t offset) {
  std::vector<std::pair<StringRef, size_t>> items = splitItems(inside, offset);
  if (items.size() != 2 && items.size() != 4)
    return refuse(directive, offset,
                  "expected (l1-sector-0, l1-sector-1, l2-sector-0, "
                  "l2-sector-1), or the last two alone");
  std::vector<OclWays> ways;
  for (size_t i = 0; i < items.size(); ++i) {
    bool isL1 = items.size() == 4 && i < 2;
    auto [item, itemOffset] = items[i];
    std::optional<OclWays> number =
        readNumber(directive, item, itemOffset, isL1 ? "L1" : "L2",
                   isL1 ? l1Limit : l2Limit);
    if (!number)
      return;
    ways.push_back(*number);
  }
  directive.l2Ways = ways.back();
  if (ways.size() == 4)
    directive.l1Ways = ways[1];
  const OclWays &sector0 = ways[ways.size() - 2], &sector1 = ways.back();
  if (!sector0.variable.empty() || !sector1.variable.empty())
    return;
  // Older machines had caches of another size, and programs came along.
  unsigned sum = sector0.number + sector1.number;
  if (sum != l2Limit)
    warn(items[items.size() - 2].second,
         "the ways of the L2 cache are " + Twine(sum) + ", but there are " +
             Twine(l2Limit) + " (K had 12, FX10 24); sector 1 gets " +
             Twine(sector1.number) + ", sector 0 the other " +
             Twine(l2Limit - sector1.number));
}

void Parser::readArrays(OclDirective &directive, StringRef inside,
                        size_t offset) {
  for (auto [item, itemOffset] : splitItems(inside, offset)) {
    if (!isName(item))
      return refuse(directive, itemOffset,
                    "expected the name of an array, not '" + item +
                        "'; parts of arrays and components cannot be chosen");
    std::string name = item.lower();
    if (!is_contained(directive.arrays, name))
      directive.arrays.push_back(std::move(name));
  }
}

/// How many lines are zeroed or prefetched ahead.
void Parser::readLines(OclDirective &directive, StringRef inside,
                       size_t offset) {
  std::optional<int64_t> value = evaluate(inside.trim(), constants);
  int64_t min = directive.form == OclForm::zfill;
  int64_t max = directive.form == OclForm::prefetchLineL2 ? 500 : 100;
  if (!value || *value < min || *value > max)
    return refuse(directive, offset,
                  "expected a number of lines from " + Twine(min) + " to " +
                      Twine(max) + ", not '" + inside.trim() + "'");
  directive.lines = unsigned(*value);
}

/// Who decides is the same here for both.
void Parser::readMode(OclDirective &directive, StringRef inside,
                      size_t offset) {
  StringRef word = inside.trim();
  if (!word.equals_insensitive("AUTO") && !word.equals_insensitive("SOFT"))
    refuse(directive, offset, "expected AUTO or SOFT, not '" + word + "'");
}

void Parser::readArguments(OclDirective &directive, StringRef inside,
                           size_t offset) {
  if (namesArrays(directive.form))
    readArrays(directive, inside, offset);
  else if (directive.form == OclForm::prefetchSequential)
    readMode(directive, inside, offset);
  else if (isAboutLoop(directive.form))
    readLines(directive, inside, offset);
  else if (directive.form == OclForm::isolateWay)
    readWays(directive, inside, offset);
  else
    readSectorSizes(directive, inside, offset);
}

/// What \p name was probably meant to be; nothing when it is another
/// compiler's.
static const Name *findNearest(StringRef name) {
  for (const Name &candidate : names) {
    // Two letters: farther away there are other directives (CACHE_...). XFILL
    // is one, too.
    unsigned max = isAboutLoop(candidate.form) ? 0 : 2;
    if (StringRef(candidate.name).edit_distance(name, true, 2) <= max)
      return &candidate;
  }
  return nullptr;
}

void Parser::readDirective(StringRef name, size_t offset) {
  skipBlanks();
  bool hasArguments = at < text.size() && text[at] == '(';
  size_t inside = at + 1;
  std::optional<StringRef> arguments;
  if (hasArguments)
    arguments = readParentheses();
  std::string upper = name.upper();
  const Name *found = findNearest(upper);
  if (!found)
    return line.others.push_back(
        {offset, name.str(), arguments.value_or("").str()});
  if (upper != found->name)
    return warn(offset, "'" + name + "' is not known; did you mean '" +
                            found->name + "'?");
  OclDirective directive;
  directive.form = found->form;
  directive.isEnd = found->isEnd;
  directive.offset = offset;
  bool takesNone = found->isEnd || found->form == OclForm::noZfill ||
                   found->form == OclForm::prefetch ||
                   found->form == OclForm::noPrefetch;
  bool mayHaveNone = takesNone || found->form == OclForm::zfill ||
                     found->form == OclForm::prefetchSequential;
  directive.lines = found->form == OclForm::zfill ? defaultLines : 0;
  if (takesNone && hasArguments)
    warn(inside - 1, Twine(found->name) + " takes no arguments; they are "
                                          "ignored");
  else if (!arguments && (hasArguments || !mayHaveNone))
    refuse(directive, hasArguments ? inside - 1 : offset + name.size(),
           hasArguments ? "this parenthesis is not closed"
                        : "expected its arguments in parentheses");
  else if (arguments && !takesNone)
    readArguments(directive, *arguments, inside);
  line.directives.push_back(std::move(directive));
}

OclLine Parser::read() {
  for (;;) {
    skipBlanks();
    size_t offset = at;
    StringRef name = readWord();
    if (!name.empty())
      readDirective(name, offset);
    else if (at < text.size())
      ++at; // a comma, or what only others understand
    else
      return std::move(line);
  }
}

OclLine mpg::parseOclLine(StringRef text, const Constants &constants) {
  return Parser(text, constants).read();
}
